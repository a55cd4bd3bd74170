"""What a built wheel or sdist holds, checked before it is published.

    python tools/distributions.py dist/*.whl dist/*.tar.gz

Exits 1 and names what is wrong. The tests and the release workflow ask the same functions.
"""

import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

NEEDED = (
    "py.typed",
    "agents/aligner.py",
    "schemas/entity.py",
    "scoring_worker/models/default/config.json",
    "scoring_worker/models/default/reader.safetensors",
    "scoring_worker/models/default/scorer.json",
    "scoring_worker/models/default/tokenizer.json",
    "scoring_worker/models/default/words.safetensors",
    "streams/console/web/static/console.css",
    "streams/console/web/templates/base.html",
    "streams/replay/templates/report.html",
)
"""Of every sort of file one without which something fails; below the package."""
PACKAGES = {
    "safepassage": NEEDED,
    "safepassage_large": ("__init__.py", "py.typed", "model/scorer.json"),
}


def top_level_names(wheel: Path) -> set[str]:
    """What installing ``wheel`` puts into site-packages, but its own dist-info."""
    return {name.partition("/")[0] for name in names_in(wheel)} - {_dist_info(wheel)}


def names_in(wheel: Path) -> list[str]:
    """The files of ``wheel``, by POSIX path."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def faults(built: Path) -> list[str]:
    """What is wrong with a wheel or an sdist, a line each; empty where nothing is.

    Raises:
        ValueError: it is neither.
    """
    if built.suffix == ".whl":
        return _faults_of_wheel(built)
    if built.name.endswith(".tar.gz"):
        return _faults_of_sdist(built)
    raise ValueError(f"{built} is neither a wheel nor an sdist")


def _faults_of_wheel(wheel: Path) -> list[str]:
    package = wheel.name.partition("-")[0]
    found = [
        f"{wheel.name}: {name} would be a top-level name"
        for name in sorted(top_level_names(wheel) - {package})
    ]
    return found + _missing(wheel, package, names_in(wheel), f"{package}/")


def _faults_of_sdist(sdist: Path) -> list[str]:
    root = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    # A link out of an sdist is refused by pip's safe extraction, and Windows makes none.
    found = [f"{sdist.name}: {m.name} is a link" for m in members if m.issym() or m.islnk()]
    package = root.rpartition("-")[0]
    return found + _missing(sdist, package, [m.name for m in members], f"{root}/{package}/")


def _missing(built: Path, package: str, names: Iterable[str], folder: str) -> list[str]:
    if package not in PACKAGES:
        return [f"{built.name}: no distribution of this repository"]
    lacking = {folder + name for name in PACKAGES[package]} - set(names)
    return [f"{built.name}: {name} is missing" for name in sorted(lacking)]


def _dist_info(wheel: Path) -> str:
    return "-".join(wheel.name.split("-")[:2]) + ".dist-info"


def nameless(wheel: Path) -> list[str]:
    """That it names no public address: a checkout has none yet, a release needs one."""
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"{_dist_info(wheel)}/METADATA").decode()
    found = "\nProject-URL: " in metadata.partition("\n\n")[0]
    return [] if found else [f"{wheel.name}: project.urls of pyproject.toml names no address"]


def main(built: list[str]) -> int:
    """Print what is wrong; the exit status."""
    found = [fault for name in built for fault in faults(Path(name))]
    found += [fault for name in built if name.endswith(".whl") for fault in nameless(Path(name))]
    sys.stdout.writelines(f"{line}\n" for line in found or ["nothing is missing or too much"])
    return 1 if found or not built else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
