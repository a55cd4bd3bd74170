"""Detectors by name: built in, of third parties, and broken ones."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from research.detectors.scorer_detector import ScorerDetector
from safepassage.scoring_worker.detectors.contract import Declaration, DetectorSettings
from safepassage.scoring_worker.detectors.registry import (
    LazyLoad,
    UnknownDetector,
    declarations,
    load_detector,
)
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker.detectors.doubles import WordScorer, entry_point

HERE = "tests.scoring_worker.detectors.test_registry"


def _declaration(name: str, load=lambda _: ScorerDetector("words", WordScorer())) -> Declaration:
    return Declaration(
        name=name,
        summary="words",
        paper="none",
        needs=frozenset(),
        judges=frozenset({"claim"}),
        cost="nothing",
        latency="nothing",
        load=load,
    )


def _needs_a_package(_: DetectorSettings):
    raise ModuleNotFoundError("no", name="lightgbm")


theirs = _declaration("theirs")
several = (_declaration("one"), _declaration("two"))
again = _declaration("default")
no_declaration = "words"


def test_a_third_party_adds_a_detector_by_entry_point():
    known = declarations([entry_point("x", f"{HERE}:theirs"), entry_point("y", f"{HERE}:several")])
    assert {"default", "theirs", "one", "two"} <= known.detectors.keys()
    assert known.broken == ()
    assert load_detector("theirs", among=known).name == "words"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_package_of_detectors:it", "ModuleNotFoundError"),
        (f"{HERE}:nothing_of_that_name", "AttributeError"),
        (f"{HERE}:no_declaration", "str"),
        (f"{HERE}:again", "already"),
    ],
)
def test_a_broken_entry_point_is_shown_and_stops_nothing_else(value, why):
    known = declarations([entry_point("bad", value), entry_point("good", f"{HERE}:theirs")])
    assert "theirs" in known.detectors
    [broken] = known.broken
    assert broken.name == "bad"
    assert why in broken.why


def test_a_name_that_is_none_says_which_there_are():
    with pytest.raises(UnknownDetector, match="default"):
        load_detector("nothing")


def test_a_missing_package_is_named():
    known = declarations([])
    known.detectors["it"] = _declaration("it", _needs_a_package)
    with pytest.raises(ModelError, match="lightgbm"):
        load_detector("it", among=known)


def test_every_built_in_detector_says_what_it_needs_and_judges():
    for name, one in declarations([]).detectors.items():
        assert one.name == name
        assert all((one.summary, one.paper, one.judges, one.cost, one.latency))


def test_what_is_to_be_loaded_later_is_there():
    later = [one.load for one in declarations([]).detectors.values()]
    named = [load for load in later if isinstance(load, LazyLoad)]
    assert len(named) == 4
    assert all(callable(load.imported()) for load in named)


def test_what_is_not_there_is_an_import_error_when_it_is_loaded():
    known = declarations([])
    known.detectors["it"] = _declaration("it", LazyLoad("no_such_room", "load"))
    with pytest.raises(ModelError, match="no_such_room"):
        load_detector("it", among=known)


def test_the_list_shows_the_detectors_and_what_is_broken(monkeypatch):
    from safepassage.scoring_worker.detectors import registry
    from safepassage.streams.cli import app

    points = [entry_point("bad", "no_such_package_of_detectors:it")]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    result = CliRunner().invoke(app, ["scorers", "list"])
    assert result.exit_code == 0, result.output
    assert "default" in result.output
    assert "broken: bad: cannot be imported: ModuleNotFoundError" in result.output


def test_declaring_the_detectors_loads_no_model_library():
    code = (
        "import sys\n"
        "from safepassage.scoring_worker.detectors.registry import declarations\n"
        "declarations()\n"
        "assert not {'torch', 'transformers', 'lightgbm', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
