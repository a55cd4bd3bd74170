"""What a release tag releases: python tools/release_folder.py TAG

Prints ``FOLDER=…`` for the release workflow. Exits 1 where the tag is not the version that the
folder's pyproject.toml states, or the changelog has no section for it.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"v": ".", "large-v": "weights"}


def folder_of(tag: str, root: Path = ROOT) -> str:
    """The folder that ``tag`` releases, relative to the repository.

    Raises:
        ValueError: it is no release's tag, or not the version or changelog of the folder.
    """
    named = re.fullmatch(r"(v|large-v)(\d+\.\d+\.\d+)", tag)
    if named is None:
        raise ValueError(f"{tag!r} is no tag of a release: v1.2.3 or large-v1.2.3")
    folder, version = FOLDERS[named[1]], named[2]
    stated = tomllib.loads((root / folder / "pyproject.toml").read_text("utf-8"))
    if stated["project"]["version"] != version:
        raise ValueError(f"{folder}/pyproject.toml says {stated['project']['version']}, not {tag}")
    section = re.compile(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", re.MULTILINE)
    if folder == "." and not section.search((root / "CHANGELOG.md").read_text("utf-8")):
        raise ValueError(f"CHANGELOG.md has no section '## {version} (year-month-day)'")
    return folder


def main(arguments: list[str]) -> int:
    """Print the line for the workflow; the exit status."""
    try:
        sys.stdout.write(f"FOLDER={folder_of(*arguments)}\n")
    except (ValueError, TypeError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
