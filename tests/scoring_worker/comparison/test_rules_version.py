"""The revision of the rules: what changes it, and what does not."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest

from safepassage import scoring_worker
from safepassage.scoring_worker.comparison import rules_version
from safepassage.scoring_worker.comparison.rules_version import library_versions, rules_revision


@pytest.fixture(autouse=True)
def fresh_versions():
    library_versions.cache_clear()
    yield
    library_versions.cache_clear()


def test_it_names_the_version_in_characters_that_a_folder_and_a_header_take():
    assert re.fullmatch(r"rules\d+-[0-9a-f]{8}", rules_revision())


def test_the_version_is_a_plain_integer():
    assert str(int(rules_version.RULES_VERSION)) == rules_version.RULES_VERSION


def test_a_new_version_changes_both_of_its_parts(monkeypatch):
    before = rules_revision()
    monkeypatch.setattr(rules_version, "RULES_VERSION", "1000")
    assert rules_revision().startswith("rules1000-")
    assert rules_revision()[-8:] != before[-8:]


def test_active_packs_change_it_in_any_order():
    assert rules_revision() == rules_revision(())
    assert rules_revision(("legal",)) != rules_revision()
    assert rules_revision(("legal", "contracts")) == rules_revision(("contracts", "legal"))


@pytest.mark.parametrize("name", rules_version.LIBRARIES)
def test_every_library_changes_it(monkeypatch, name):
    before = rules_revision()
    library_versions.cache_clear()
    versions = {library: importlib.metadata.version(library) for library in rules_version.LIBRARIES}
    monkeypatch.setattr(rules_version, "version", {**versions, name: "0.0.1"}.__getitem__)
    assert rules_revision() != before


def test_sources_do_not_change_it(monkeypatch):
    """A docstring may be mended: no source is read."""
    before = rules_revision()
    library_versions.cache_clear()
    read_bytes, sources = Path.read_bytes, Path(scoring_worker.__file__).parent

    def changed(path):
        found = read_bytes(path)
        return found + b"\n# mended" if path.is_relative_to(sources) else found

    monkeypatch.setattr(Path, "read_bytes", changed)
    assert rules_revision() == before
