"""RAGulator's forests: what is fitted, and the paper's measures."""

import numpy as np
import pytest

from research.detectors.ragulator.model_measure import MODELS, claim_measure, load_meta
from research.detectors.ragulator.single_features import SingleFeature
from research.ragulator_training.fit import (
    LabelledFeatures,
    boosted_trees,
    fitted,
    forest_trees,
)
from research.ragulator_training.grid import (
    LIGHTGBM,
    RANDOM_FOREST,
    points,
    threshold_of,
)
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.detectors.ragulator.features import PAPER
from safepassage.scoring_worker.forest import Forest, Predictor
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker import tiny
from tests.scoring_worker.detectors.test_ragulator_forest import forest_of

RENT = "The rent was 900 euros."


def _rows(seed: int, count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 3)).round(4)
    return rows, (rows[:, 0] + rows[:, 1] ** 2 + rng.normal(size=count) > 0.5).astype(int)


def test_a_random_forest_as_json_says_what_scikit_learn_says():
    from sklearn.ensemble import RandomForestClassifier

    rows, labels = _rows(0)
    model = RandomForestClassifier(n_estimators=20, max_depth=5, random_state=0).fit(rows, labels)
    made = forest_of(*forest_trees(model), features=("a", "b", "c"))
    again = Forest.model_validate_json(made.model_dump_json())
    unseen, _ = _rows(1)
    wanted = model.predict_proba(unseen)[:, 1]
    assert Predictor(again).out_of_context(unseen) == pytest.approx(wanted, abs=1e-5)


def test_boosted_trees_as_json_say_what_lightgbm_says():
    lightgbm = pytest.importorskip("lightgbm")
    rows, labels = _rows(0)
    model = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=10, verbosity=-1, n_jobs=1)
    model.fit(rows, labels)
    made = forest_of(*boosted_trees(model), kind="boosted", features=("a", "b", "c"))
    again = Forest.model_validate_json(made.model_dump_json())
    unseen, _ = _rows(1)
    wanted = model.booster_.predict(unseen)
    assert Predictor(again).out_of_context(unseen) == pytest.approx(wanted, abs=1e-9)


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
    from research.ragulator_training import fit
    from safepassage.scoring_worker.detectors.ragulator.features import EXTENDED, RISING

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


def test_a_forest_is_served_with_what_it_was_trained_on_or_not_at_all(tmp_path):
    """Its file names the sentence encoder and the reranker; another digest of one is refused."""
    encoder, reranker = (
        tiny.bert(tmp_path / "encoder"),
        tiny.bert(tmp_path / "reranker", labels={0: "LABEL_0"}),
    )
    settings = DetectorSettings(device="cpu")
    measure = claim_measure(settings, encoder=str(encoder), reranker=str(reranker))
    path = tmp_path / "forest.json"
    forest = forest_of(features=("max_relevance",)).model_copy(
        update={"measures": measure.measures}
    )
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


@pytest.mark.parametrize("name", ["ragulator-lightgbm", "ragulator-random-forest"])
def test_the_papers_forests_load_and_say_what_they_learnt_from(name):
    forest = Forest.load(MODELS / f"{name}.json")
    assert forest.trained_on
    assert not any(
        word in source for source in forest.trained_on for word in ("MRPC", "PubMed", "SNLI")
    )
