"""Forests as JSON: what they say is what the libraries say, and a hostile file cannot hang us."""

import math

import numpy as np
import pytest
from pydantic import ValidationError

from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.detectors.ragulator.features import PAPER
from safepassage.scoring_worker.detectors.ragulator.loading import claim_measure, load_meta
from safepassage.scoring_worker.detectors.ragulator.measurement import ClaimMeasure
from safepassage.scoring_worker.detectors.ragulator.meta_classifiers import (
    MODELS,
    MetaClassifier,
    SingleFeature,
)
from safepassage.scoring_worker.detectors.similarity.word_vectors import WordVectors
from safepassage.scoring_worker.forest import Forest, Predictor, Tree
from safepassage.scoring_worker.laboratory.training.ragulator.fit import (
    LabelledFeatures,
    boosted_trees,
    fitted,
    forest_trees,
)
from safepassage.scoring_worker.laboratory.training.ragulator.grid import (
    LIGHTGBM,
    RANDOM_FOREST,
    points,
    threshold_of,
)
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker import tiny
from tests.scoring_worker.detectors.doubles import WordScorer

RENT = "The rent was 900 euros."


def _stump(threshold: float = 0.5, low: float = 0.9, high: float = 0.1) -> Tree:
    return Tree(
        feature=(0, -1, -1), threshold=(threshold, 0, 0), left=(1, 0, 0), right=(2, 0, 0),
        value=(0, low, high),
    )  # fmt: skip


def _forest(*trees: Tree, kind: str = "averaged", features=("token_precision",)) -> Forest:
    return Forest(kind=kind, features=features, trees=trees or (_stump(),))


def _rows(seed: int, count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 3)).round(4)
    return rows, (rows[:, 0] + rows[:, 1] ** 2 + rng.normal(size=count) > 0.5).astype(int)


def test_a_random_forest_as_json_says_what_scikit_learn_says():
    from sklearn.ensemble import RandomForestClassifier

    rows, labels = _rows(0)
    model = RandomForestClassifier(n_estimators=20, max_depth=5, random_state=0).fit(rows, labels)
    made = _forest(*forest_trees(model), features=("a", "b", "c"))
    again = Forest.model_validate_json(made.model_dump_json())
    unseen, _ = _rows(1)
    wanted = model.predict_proba(unseen)[:, 1]
    assert Predictor(again).out_of_context(unseen) == pytest.approx(wanted, abs=1e-5)


def test_boosted_trees_as_json_say_what_lightgbm_says():
    lightgbm = pytest.importorskip("lightgbm")
    rows, labels = _rows(0)
    model = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=10, verbosity=-1, n_jobs=1)
    model.fit(rows, labels)
    made = _forest(*boosted_trees(model), kind="boosted", features=("a", "b", "c"))
    again = Forest.model_validate_json(made.model_dump_json())
    unseen, _ = _rows(1)
    wanted = model.booster_.predict(unseen)
    assert Predictor(again).out_of_context(unseen) == pytest.approx(wanted, abs=1e-9)


def test_a_feature_that_is_no_number_gives_no_score():
    found = Predictor(_forest()).out_of_context(np.array([[0.2], [np.nan], [np.inf]]))
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
    written = _forest().model_dump(mode="python")
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
    path.write_text(_forest(features=("nobody knows",)).model_dump_json())
    with pytest.raises(ModelError, match="unknown features"):
        load_meta("ragulator-extended", DetectorSettings(model=str(path)))


def test_the_revision_changes_with_the_trees():
    assert _forest().revision == _forest().revision != _forest(_stump(0.6)).revision


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors()


def test_a_response_is_as_grounded_as_its_worst_claim_with_evidence(vectors):
    detector = MetaClassifier("it", _forest(), ClaimMeasure(vectors, WordScorer()))
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
    detector = MetaClassifier("it", _forest(), ClaimMeasure(vectors, WordScorer()))
    answers = [Answer((RENT, "Dogs bark."), f"{RENT} Cats {n}.") for n in range(5)]
    together = detector.ground(answers)
    assert together == [detector.ground([answer])[0] for answer in answers]


def test_a_single_feature_is_a_detector():
    detector = SingleFeature("token_precision", "token_precision", lambda share: share)
    found, none = detector.ground([Answer((RENT,), f"{RENT} Cats sing."), Answer((), RENT)])
    assert found.score == 0.0
    assert none.failure == "no_context"


def test_the_grids_are_those_of_the_paper():
    assert len(points(LIGHTGBM)) == 54
    assert len(points(RANDOM_FOREST)) == 25


@pytest.mark.parametrize("model", ["random-forest", "extended"])
def test_a_fitted_forest_tells_the_grounded_from_the_rest(model, monkeypatch):
    if model == "extended":
        pytest.importorskip("lightgbm")
    from safepassage.scoring_worker.detectors.ragulator.features import EXTENDED, RISING
    from safepassage.scoring_worker.laboratory.training.ragulator import fit

    monkeypatch.setattr(fit, "RANDOM_FOREST", {"max_depth": (2,), "n_estimators": (10,)})
    small = {"max_depth": (2,), "n_estimators": (10,), "num_leaves": (4,), "subsample": (0.8, 1.0)}
    monkeypatch.setattr(fit, "LIGHTGBM", small)
    rng = np.random.default_rng(0)
    labelled = [
        LabelledFeatures(
            {n: float(rng.normal(RISING[n] * (at % 2), 0.7)) for n in EXTENDED},
            bool(at % 2), f"doc-{at // 4}", "made here",
        )
        for at in range(240)
    ]  # fmt: skip
    forest = fitted(model, labelled, lambda *_: None)
    assert forest.measured["folds_auroc"] > 0.9
    assert forest.trained_on == ("made here",)
    with pytest.raises(ValueError, match="one class"):
        fitted(model, [one for one in labelled if one.out_of_context], lambda *_: None)


@pytest.mark.parametrize(
    "name", ["ragulator-lightgbm", "ragulator-random-forest", "ragulator-extended"]
)
def test_the_forests_that_ship_load_and_say_what_they_learnt_from(name):
    forest = Forest.load(MODELS / f"{name}.json")
    assert forest.trained_on
    assert not any(
        word in source for source in forest.trained_on for word in ("MRPC", "PubMed", "SNLI")
    )
    assert (MODELS / f"{name}.json").stat().st_size < 3_000_000


def test_a_forest_is_served_with_what_it_was_trained_on_or_not_at_all(tmp_path):
    """Its file names the sentence encoder and the reranker; another digest of one is refused."""
    encoder, reranker = (
        tiny.bert(tmp_path / "encoder"),
        tiny.bert(tmp_path / "reranker", labels={0: "LABEL_0"}),
    )
    settings = DetectorSettings(device="cpu")
    measure = claim_measure(settings, encoder=str(encoder), reranker=str(reranker))
    path = tmp_path / "forest.json"
    forest = _forest(features=("max_relevance",)).model_copy(update={"measures": measure.measures})
    path.write_text(forest.model_dump_json())
    served = DetectorSettings(model=str(path), device="cpu")
    detector = load_meta("ragulator-lightgbm", served)
    [grounding] = detector.ground([Answer(("the rent was paid. it rained.",), "the rent was due.")])
    [[wanted]] = measure.measure([Answer(("the rent was paid. it rained.",), "the rent was due.")])
    relevance = wanted.features["max_relevance"]
    assert 0.0 < relevance < 1.0
    assert grounding.score == pytest.approx(1 - (0.9 if relevance <= 0.5 else 0.1))
    tiny.bert(reranker, seed=1, labels={0: "LABEL_0"})
    with pytest.raises(ModelError, match="trained with another relevance"):
        load_meta("ragulator-lightgbm", served)


def test_the_forests_that_ship_take_no_other_relevance():
    with pytest.raises(ModelError, match="default scorer's relevance"):
        load_meta("ragulator-lightgbm", DetectorSettings(scorer="words"))


def test_a_file_without_measures_keeps_its_revision():
    assert "measures" not in Forest.load(MODELS / "ragulator-lightgbm.json").model_dump_json()


def test_the_threshold_is_where_f1_is_best_on_what_was_held_out():
    """Rows whose first feature is above 1 are out of context, one in five of all."""
    pytest.importorskip("lightgbm")
    rng = np.random.default_rng(3)
    labelled = []
    for at in range(300):
        features = {name: float(rng.random()) for name in PAPER}
        out = rng.random() < 0.2
        features["token_precision"] = float(rng.random() * 0.4 + (0 if out else 0.3))
        labelled.append(LabelledFeatures(features, out, f"doc-{at // 3}", "made"))
    forest = fitted("lightgbm", labelled, lambda *_: None)
    assert 0.0 < forest.threshold < 1.0
    rows = np.array([[one.features[name] for name in forest.features] for one in labelled])
    said = Predictor(forest).out_of_context(rows) >= forest.threshold
    out = np.array([one.out_of_context for one in labelled])
    f1 = 2 * (said & out).sum() / (said.sum() + out.sum())
    always = 2 * out.sum() / (len(out) + out.sum())
    assert f1 > always + 0.2


def test_equal_doubts_are_on_one_side_of_the_threshold():
    class Constant:
        def predict_proba(self, rows):
            return np.column_stack([1 - rows[:, 0], rows[:, 0]])

    rows = np.array([[0.9], [0.9], [0.4], [0.4], [0.1], [0.1]])
    labels = np.array([1, 1, 1, 0, 0, 0])
    groups = ["a", "b", "c", "d", "e", "f"]
    found = threshold_of(lambda *_: Constant(), {}, rows, labels, groups=groups)
    assert found == pytest.approx(0.25)
