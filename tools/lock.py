"""Writes the lock files from the environment it runs in: `make lock`.

The versions are those installed, the selection is the closure of what pyproject.toml asks for:
of everything that runs, of "ocr" (which no image has unasked: it alone brings LGPL libraries), of
"dev" and of "bench", each without what is in the ones before. "large" is in none of them: it is
built from this repository.
A local version (torch's "+cpu") is cut off, so that the lock installs on any machine.

Every line has the hashes of all files that the package index has of that version, as uv tells
them: `pip install --require-hashes --no-deps -r requirements.lock`. torch is not there: which of
its builds is installed, and from which index, depends on the hardware, and its CUDA packages with
it. `constraints.txt` has all versions of what runs, torch's too, without hashes, for
`pip install -c`.
"""

import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Made by `make lock` from pyproject.toml. Do not edit.\n"


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
ASIDE = ("ocr", "dev", "bench")
BUILT_HERE = ("large",)
BY_HARDWARE = "torch"


def closure(requirements: list[str]) -> dict[str, str]:
    """Name and version of everything that ``requirements`` need in this environment."""
    pinned: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    pending = [Requirement(text) for text in requirements]
    while pending:
        wanted = pending.pop()
        name, extras = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        if name == PROJECT["name"]:  # an extra that takes another one in
            pending += [Requirement(text) for extra in extras for text in EXTRAS[extra]]
            continue
        found = distribution(name)
        pinned[name] = found.version.partition("+")[0]
        for text in found.requires or []:
            needed = Requirement(text)
            environments = [{"extra": extra} for extra in ("", *extras)]
            if needed.marker is None or any(needed.marker.evaluate(e) for e in environments):
                pending.append(needed)
    return pinned


def hashed(pins: dict[str, str]) -> str:
    """The lines of a lock file."""
    with tempfile.TemporaryDirectory() as folder:
        versions, locked = Path(folder, "versions.in"), Path(folder, "locked")
        versions.write_text(pinned_lines(pins))
        command = [sys.executable, "-m", "uv", "pip", "compile", str(versions), "-o", str(locked)]
        options = ["--generate-hashes", "--no-deps", "--no-header", "--no-annotate", "--quiet"]
        subprocess.run([*command, *options], check=True)  # noqa: S603 - our own arguments
        return locked.read_text()


def pinned_lines(pins: dict[str, str]) -> str:
    return "".join(f"{name}=={version}\n" for name, version in sorted(pins.items()))


def main() -> None:
    apart = (*ASIDE, *BUILT_HERE)
    running = [text for extra, texts in EXTRAS.items() if extra not in apart for text in texts]
    locked: dict[str, str] = {}
    groups = {"": PROJECT["dependencies"] + running, **{aside: EXTRAS[aside] for aside in ASIDE}}
    for group, requirements in groups.items():
        pins = {n: v for n, v in closure(requirements).items() if n not in locked}
        locked |= pins
        if not group:
            (ROOT / "constraints.txt").write_text(HEADER + pinned_lines(pins))
        pins.pop(BY_HARDWARE, None)
        suffix = f"-{group}" if group else ""
        (ROOT / f"requirements{suffix}.lock").write_text(HEADER + hashed(pins))


if __name__ == "__main__":
    main()
