"""The documentation names nothing that is not there, and leaves no setting or metric out."""

import re
import sys
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

import safepassage.service.metrics
import safepassage.streams.runtime.metrics  # noqa: F401
from research.detectors.llm.settings import MethodSettings
from safepassage.agents.extraction.schema_loading import load_schema
from safepassage.llm_calls.settings import DecisionSettings, GraderSettings
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALL_TOPICS, ROLE_NAMES
from tools.blocks import ROOT, pages

PAGES = [
    *pages(),
    ROOT / "deploy" / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "CHANGELOG.md",
]
REFERENCE = ROOT / "docs" / "reference"
SETTINGS = (REFERENCE / "settings.md").read_text().partition("## Defaults")[0]
METRICS = (REFERENCE / "metrics.md").read_text()
TOPICS = (REFERENCE / "topics.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "concepts" / "architecture.md").read_text()
README_LINES = 200


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def variables(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    return [f"SAFEPASSAGE_{name.upper()}"]


def all_variables(settings: type[BaseSettings]) -> set[str]:
    fields = settings.model_fields.items()
    return {variable for name, field in fields for variable in variables(name, field)}


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file(page: Path):
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_test_named_exists(page: Path):
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text())
    missing = [test for file, test in named if f"def {test}(" not in (ROOT / file).read_text()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_source_file_named_exists(page: Path):
    rooms = "schemas|agents|scoring_worker|safepassage|streams|deploy|docs|tests|tools|benchmarks"
    named = re.findall(rf"`((?:{rooms})/[\w./-]*)`", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_module_and_benchmark_in_a_command_exists(page: Path):
    text = page.read_text()
    modules = [name.replace(".", "/") for name in re.findall(r"python -m ((?:\w+\.)+\w+)", text)]
    scripts = re.findall(r"python (\w+/\w+\.py)", text)
    files = [*(f"{name}.py" for name in modules), *scripts]
    packages = {f"{name}.py" for name in modules if (ROOT / name / "__main__.py").exists()}
    assert [name for name in files if not (ROOT / name).exists() and name not in packages] == []


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_explained(name: str):
    variable, *_ = variables(name, Settings.model_fields[name])
    assert f"| `{variable}` | " in SETTINGS


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_setting_named_exists(page: Path):
    kinds = (Settings, GraderSettings, DecisionSettings, MethodSettings)
    existing = {"SAFEPASSAGE_KAFKA_JARS"}.union(*map(all_variables, kinds))  # of tests/kafka_server
    named = set(re.findall(r"\bSAFEPASSAGE_[A-Z0-9_]*[A-Z0-9]\b", page.read_text()))
    assert named <= existing


def test_every_metric_is_listed():
    families = {f.name for f in REGISTRY.collect() if f.name.startswith("safepassage_")}
    assert [name for name in families if f"| `{name}" not in METRICS] == []


def test_every_role_and_every_topic_is_explained():
    for role in ROLE_NAMES:
        assert f"| `{role}` |" in ARCHITECTURE
        assert f"| `{role}` |" in TOPICS
    assert [t.name for t in ALL_TOPICS if f"| `{t.name}` |" not in TOPICS] == []


@pytest.mark.parametrize(
    ("page", "schema", "types"),
    [
        ("docs/index.md", "invoices:Invoice", {"Gross Total", "Line Item"}),
    ],
)
def test_the_schema_on_a_page_can_be_extracted(
    page: str, schema: str, types: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A reader copies the code into a file beside the command, and names it as the page does."""
    text = (ROOT / page).read_text()
    code = next(c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "(Entity)" in c)
    assert f"SAFEPASSAGE_SCHEMA={schema}" in text
    (tmp_path / f"{schema.partition(':')[0]}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", {**sys.modules})
    titles = {part.get("title") for part in load_schema(schema).json_schema["$defs"].values()}
    assert types <= titles


@pytest.mark.parametrize(
    "page",
    [ROOT / "Makefile", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_no_host_of_a_package_index_is_named(page: Path):
    """Whose index a reader asks is the reader's."""
    hosts = r"pypi\.org|pythonhosted\.org|registry\.npmjs|deb\.debian\.org|download\.pytorch\.org"
    assert re.findall(hosts, page.read_text(encoding="utf-8")) == []


# What others say, or what is said of an HTTP status.
NOT_OURS = {"OSError: No space left on device", "/health", "submit --wait"}


def test_every_message_that_troubleshooting_explains_is_said_by_the_code():
    page = (ROOT / "docs" / "how-to" / "troubleshoot.md").read_text()
    table = page.partition("## By message")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")][1:]
    spans = [span for row in rows for span in re.findall(r"`([^`]+)`", row)]
    assert len(spans) > 20
    rooms = ("streams", "safepassage", "agents", "scoring_worker")
    source = " ".join(p.read_text() for room in rooms for p in (ROOT / room).rglob("*.py"))
    joined = re.sub(r'"\s*\n\s*f?"', "", source)  # of strings over several lines
    missing: list[str] = []
    for span in spans:
        if span in NOT_OURS:
            continue
        # Names and figures differ; what stands between them does not.
        said = max(re.split(r"…|\b[A-Z]\b|\d+|'|/health", span), key=len).strip(" :,=")
        missing += [] if said in joined else [span]
    assert missing == []
