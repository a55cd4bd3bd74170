"""The lock files name a hash for whatever is installed from them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from . import built

lock = built.script("tools/lock.py")
LOCKS = sorted(built.ROOT.glob("requirements*.lock"))
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def pinned(path: Path) -> dict[str, int]:
    """Each ``name==version`` of a lock, with how many hashes it has."""
    text = path.read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {line.split()[0]: len(HASH.findall(line)) for line in lines}


@pytest.mark.parametrize("path", LOCKS, ids=lambda p: p.name)
def test_every_line_of_a_lock_has_hashes(path: Path):
    pins = pinned(path)
    assert pins
    assert [pin for pin, hashes in pins.items() if not hashes] == []


def test_the_constraints_are_the_lock_and_torch():
    lines = (built.ROOT / "constraints.txt").read_text().splitlines()
    versions = {line for line in lines if not line.startswith("#")}
    (torch,) = (line for line in versions if line.startswith(f"{lock.BY_HARDWARE}=="))
    assert versions - {torch} == set(pinned(built.ROOT / "requirements.lock"))


def test_no_package_has_two_versions():
    names = [pin.split("==")[0] for path in LOCKS for pin in pinned(path)]
    assert len(names) == len(set(names))


def test_what_is_installed_from_a_lock_is_held_to_its_hashes():
    for path in ("Makefile", "deploy/Dockerfile"):
        text = (built.ROOT / path).read_text()
        used = [line for line in text.splitlines() if re.search(r"-r requirements\S*\.lock", line)]
        assert used, path
        assert all("--require-hashes" in line or "$(LOCKED)" in line for line in used), path
