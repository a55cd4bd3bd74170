"""The documentation names nothing that is not there, and leaves no setting or metric out."""

import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from pydantic import AliasChoices
from pydantic.fields import FieldInfo

import safepassage.service.metrics
import safepassage.streams.runtime.metrics  # noqa: F401
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALL_TOPICS, ROLE_NAMES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "docs" / "architecture.md",
    ROOT / "docs" / "files.md",
    ROOT / "docs" / "one-call.md",
    ROOT / "docs" / "recipes.md",
    ROOT / "docs" / "operations.md",
    ROOT / "deploy" / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "CHANGELOG.md",
]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()


def variable(name: str, field: FieldInfo) -> str:
    alias = field.validation_alias
    return (
        str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"SAFEPASSAGE_{name.upper()}"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_link_leads_to_a_file(page: Path):
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_source_file_named_exists(page: Path):
    rooms = r"`((?:schemas|agents|scoring_worker|safepassage|streams|deploy|docs|tests)/[\w./-]*)`"
    named = re.findall(rooms, page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_explained(name: str):
    assert f"| `{variable(name, Settings.model_fields[name])}` | " in OPERATIONS


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_setting_named_exists(page: Path):
    existing = set()
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        existing |= set(alias.choices) if isinstance(alias, AliasChoices) else set()
        existing.add(f"SAFEPASSAGE_{name.upper()}")
    named = set(re.findall(r"\bSAFEPASSAGE_[A-Z0-9_]*[A-Z0-9]\b", page.read_text()))
    assert named <= existing


def test_every_metric_is_listed():
    families = {f.name for f in REGISTRY.collect() if f.name.startswith("safepassage_")}
    assert [name for name in families if f"| `{name}" not in OPERATIONS] == []


def test_every_role_and_every_topic_is_explained():
    for role in ROLE_NAMES:
        assert f"| `{role}` |" in ARCHITECTURE
        assert f"| `{role}` |" in OPERATIONS
    assert [t.name for t in ALL_TOPICS if f"`{t.name}`" not in OPERATIONS + ARCHITECTURE] == []
