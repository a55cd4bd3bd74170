"""Writes the lock files from the environment it runs in: `make lock`.

The versions are those installed, the selection is the closure of what pyproject.toml asks for.
A local version (torch's "+cpu") is cut off, so that the lock installs on any machine.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Made by `make lock` from pyproject.toml. Do not edit.\n"


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
        found = distribution(name)
        pinned[name] = found.version.partition("+")[0]
        for text in found.requires or []:
            needed = Requirement(text)
            environments = [{"extra": extra} for extra in ("", *extras)]
            if needed.marker is None or any(needed.marker.evaluate(e) for e in environments):
                pending.append(needed)
    return pinned


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locked: dict[str, str] = {}
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    for group, requirements in groups.items():
        pins = {n: v for n, v in closure(requirements).items() if n not in locked}
        locked |= pins
        suffix = f"-{group}" if group else ""
        lines = "".join(f"{name}=={version}\n" for name, version in sorted(pins.items()))
        (ROOT / f"requirements{suffix}.lock").write_text(HEADER + lines)


if __name__ == "__main__":
    main()
