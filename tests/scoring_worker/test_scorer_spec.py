"""A scorer's name is read and written in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.settings import JudgingSettings
from safepassage.streams.release.promotion import absolute
from safepassage.streams.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("default", ScorerSpec("default")),
        ("large+hallugraph", ScorerSpec("large", graphs=True)),
        ("words+claims:quip", ScorerSpec("words", claims="quip")),
        ('f#{"":1.0,"rent":0.97}', ScorerSpec("f", limits={"rent": 0.97, "": 1.0})),
        (
            '/a=b/c+hallugraph+claims:gc=/d e#{"wärme":0.5}',
            ScorerSpec("/a=b/c", True, "gc", "/d e", {"wärme": 0.5}),
        ),
    ],
)
def test_what_a_name_says_and_back_to_the_byte(name: str, spec: ScorerSpec) -> None:
    assert ScorerSpec.parse(name) == spec
    assert str(spec) == name


@pytest.mark.parametrize("name", ["words#{", 'words#{"a":2}', 'words#{"a":"b"}', 'words#{"a":NaN}'])
def test_what_is_no_limit_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="names no limits"):
        ScorerSpec.parse(name)


def test_limits_add_up_and_the_higher_one_counts() -> None:
    once = ScorerSpec.parse('words#{"Rent":0.9}')
    twice = once.with_limits({"Rent": 0.8, "": 0.7})
    assert str(twice) == 'words#{"":0.7,"rent":0.9}'
    assert twice.raised(once.raised("r")) == twice.raised("r") != once.raised("r")
    assert ScorerSpec("words").raised("r") == "r"


def test_a_name_that_says_who_judges_claims_is_kept() -> None:
    """Limits stay behind it."""
    assert str(ScorerSpec.parse("default").with_claims_by("gc=x")) == "default+claims:gc=x"
    assert str(ScorerSpec.parse("x+claims:quip").with_claims_by("gc=x")) == "x+claims:quip"
    limited = ScorerSpec.parse('default#{"rent":0.9}').with_claims_by("quip")
    assert str(limited) == 'default+claims:quip#{"rent":0.9}'


def test_the_setting_names_the_judge_of_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEPASSAGE_SCORER", "words")
    assert Settings().judge == JudgingSettings().judge == "words"
    monkeypatch.setenv("SAFEPASSAGE_CLAIM_SCORER", "hallugraph")
    assert Settings().judge == JudgingSettings().judge == "words+claims:hallugraph"


def test_a_release_names_folders_in_full(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where something is behind them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gc").mkdir()
    assert absolute("default+claims:gc=gc") == f"default+claims:gc={tmp_path / 'gc'}"
    assert absolute('gc+hallugraph#{"a":0.5}') == f'{tmp_path / "gc"}+hallugraph#{{"a":0.5}}'
    assert absolute("default+claims:hallugraph") == "default+claims:hallugraph"


def test_no_other_module_reads_or_writes_the_marks_of_a_name() -> None:
    """Docstrings may show a name; code has none of its marks."""
    marks = {"+claims:", "+hallugraph", "#{"}
    found = {
        path.name
        for room in ("agents", "safepassage", "schemas", "scoring_worker", "streams")
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in marks
    }
    assert found == {"scorer_spec.py"}
