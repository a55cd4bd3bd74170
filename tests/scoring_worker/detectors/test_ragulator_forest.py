"""Forests as JSON: what they say is what the libraries say, and a hostile file cannot hang us."""

import math

import numpy as np
import pytest
from pydantic import ValidationError

from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.detectors.ragulator.loading import load_ragulator
from safepassage.scoring_worker.detectors.ragulator.measurement import ClaimMeasure
from safepassage.scoring_worker.detectors.ragulator.meta_classifiers import (
    SHIPPED,
    MetaClassifier,
)
from safepassage.scoring_worker.detectors.ragulator.word_vectors import WordVectors
from safepassage.scoring_worker.forest import Forest, MeasureUsed, Predictor, Tree
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.scorers.by_name import load_named
from safepassage.scoring_worker.scorers.default import DefaultScorer
from tests.scoring_worker.detectors.doubles import WordScorer

LEARNT = Forest.load(SHIPPED).measures
RENT = "The rent was 900 euros."


def _stump(threshold: float = 0.5, low: float = 0.9, high: float = 0.1) -> Tree:
    return Tree(
        feature=(0, -1, -1), threshold=(threshold, 0, 0), left=(1, 0, 0), right=(2, 0, 0),
        value=(0, low, high),
    )  # fmt: skip


def forest_of(*trees: Tree, kind: str = "averaged", features=("token_precision",)) -> Forest:
    return Forest(kind=kind, features=features, trees=trees or (_stump(),))


def test_a_feature_that_is_no_number_gives_no_score():
    found = Predictor(forest_of()).out_of_context(np.array([[0.2], [np.nan], [np.inf]]))
    assert found[0] == 0.9
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize(
    "changed",
    [
        {"left": (0, 0, 0)},  # a node that is its own child
        {"left": (9, 0, 0)},
        {"feature": (7, -1, -1)},
        {"value": (0, 1)},
        {"threshold": (math.nan, 0, 0)},
    ],
)
def test_a_tree_that_leads_nowhere_is_refused(changed):
    written = forest_of().model_dump(mode="python")
    written["trees"] = [written["trees"][0] | changed]
    with pytest.raises(ValidationError):
        Forest.model_validate(written)


def test_a_file_that_is_no_forest_is_said_to_be_none(tmp_path):
    path = tmp_path / "forest.json"
    with pytest.raises(ModelError, match="cannot read"):
        Forest.load(path)
    path.write_text("{}")
    with pytest.raises(ModelError, match="no forest"):
        Forest.load(path)
    path.write_text(forest_of(features=("nobody knows",)).model_dump_json())
    with pytest.raises(ModelError, match="unknown features"):
        load_ragulator(DetectorSettings(model=str(path)))


def test_the_revision_changes_with_the_trees():
    assert forest_of().revision == forest_of().revision != forest_of(_stump(0.6)).revision


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors()


def test_a_response_is_as_grounded_as_its_worst_claim_with_evidence(vectors):
    detector = MetaClassifier("it", forest_of(), ClaimMeasure(vectors, WordScorer()))
    response = f"{RENT} Cats sing opera."
    good, mixed, lost = detector.ground(
        [Answer((RENT,), RENT), Answer((RENT,), response), Answer((" ",), RENT)]
    )
    assert good.score == pytest.approx(0.9)
    assert good.claims[0].passages[0].supports
    assert mixed.score == pytest.approx(0.1)
    assert [c.score for c in mixed.claims] == pytest.approx([0.9, 0.1])
    [span] = mixed.evidence.unsupported
    assert response[span.start : span.end] == "Cats sing opera."
    assert lost.failure == "no_context"


def test_a_score_does_not_change_with_the_company(vectors):
    detector = MetaClassifier("it", forest_of(), ClaimMeasure(vectors, WordScorer()))
    answers = [Answer((RENT, "Dogs bark."), f"{RENT} Cats {n}.") for n in range(5)]
    together = detector.ground(answers)
    assert together == [detector.ground([answer])[0] for answer in answers]


def test_the_forest_that_ships_loads_and_says_what_it_learnt_from():
    forest = Forest.load(SHIPPED)
    assert forest.trained_on
    assert not any(
        word in source for source in forest.trained_on for word in ("MRPC", "PubMed", "SNLI")
    )
    assert SHIPPED.stat().st_size < 100_000


def test_the_forest_that_ships_takes_no_other_relevance():
    with pytest.raises(ModelError, match="the relevance of small, not with that of words"):
        load_ragulator(DetectorSettings(scorer="words"))


def test_the_forest_that_ships_is_measured_by_the_small_reader_alone():
    """However many readers `default` has: a forest knows the relevance that it learnt from."""
    small = load_named("small")
    assert isinstance(small, DefaultScorer)
    learnt = Forest.load(SHIPPED).measures["relevance"]
    assert learnt == MeasureUsed(name="small", revision=small.manifest.revision)
    load_ragulator(DetectorSettings()).close()


def test_a_forest_that_does_not_say_what_it_was_measured_with_is_refused(tmp_path):
    path = tmp_path / "forest.json"
    path.write_text(forest_of().model_dump_json())
    with pytest.raises(ModelError, match="does not say what its features were measured with"):
        load_ragulator(DetectorSettings(model=str(path)))


@pytest.mark.parametrize(
    "measures",
    [
        {**LEARNT, "similarity": MeasureUsed(name="BAAI/bge-small-en-v1.5", revision="1")},
        {**LEARNT, "relevance": MeasureUsed(name="reranker BAAI/bge-reranker-base", revision="1")},
    ],
)
def test_a_forest_with_the_papers_measures_is_served_in_a_clone_only(measures, tmp_path):
    path = tmp_path / "forest.json"
    path.write_text(forest_of().model_copy(update={"measures": measures}).model_dump_json())
    with pytest.raises(ModelError, match="python -m research"):
        load_ragulator(DetectorSettings(model=str(path)))


def test_a_forest_that_learnt_from_another_revision_is_refused(tmp_path):
    path = tmp_path / "forest.json"
    used = {**LEARNT, "similarity": MeasureUsed(name="word vectors", revision="another")}
    path.write_text(forest_of().model_copy(update={"measures": used}).model_dump_json())
    with pytest.raises(ModelError, match="trained with another similarity"):
        load_ragulator(DetectorSettings(model=str(path)))
