"""HEM, FactKB, GC and ContextNLI: their arithmetic on a double, their loading on tiny models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.detectors.nli import detectors as nli
from research.detectors.nli.detectors import ModelUse, NLIDetector
from research.detectors.registry import load_detector
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.encoders.published import PublishedHead
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker import tiny


class Table:
    """Probabilities by (source, sentence); what is not there cannot be scored."""

    revision = "table"

    def __init__(self, known):
        self.known, self.asked = known, []

    def probabilities(self, sources, sentences):
        pairs = list(zip(sources, sentences, strict=True))
        self.asked += pairs
        return np.array([self.known.get(pair, np.nan) for pair in pairs], dtype=np.float64)


def _answer(sources, sentences):
    return Answer((" ".join(sources),), " ".join(sentences))


square = st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=2, max_size=2)


@given(square, st.booleans())
def test_best_source_then_worst_sentence(rows, contradiction):
    sources = ["The tenant came early.", "The landlord went home."]
    sentences = ["The judge sat down.", "The clerk ran away."]
    table = {(s, h): rows[i][j] for i, h in enumerate(sentences) for j, s in enumerate(sources)}
    detector = NLIDetector("x", Table(table), ModelUse("sentences", contradiction))
    [found] = detector.ground([_answer(sources, sentences)])
    values = np.array(rows)
    expected = 1 - values.min(axis=1).max() if contradiction else values.max(axis=1).min()
    assert found.score == pytest.approx(expected)


def test_one_answer_that_cannot_be_scored_does_not_touch_the_others():
    table = Table({("Ann came.", "Cid sat."): 0.9})
    detector = NLIDetector("x", table, ModelUse("sentences"))
    found = detector.ground(
        [
            _answer(["Ann came."], ["Cid sat."]),
            _answer(["Ann came."], ["Dee ran."]),
            Answer((), "Cid sat."),
            _answer(["Ann came."], ["Cid sat."]),
        ]
    )
    assert [grounding.score for grounding in found] == [0.9, None, None, 0.9]
    assert [grounding.failure for grounding in found] == [
        None,
        "pair_not_scored",
        "no_context",
        None,
    ]


def test_windows_hold_several_sentences():
    table = Table({("Ann came. Bob went.", "Cid sat."): 0.4})
    [found] = NLIDetector("x", table, ModelUse("windows")).ground(
        [_answer(["Ann came.", "Bob went."], ["Cid sat."])]
    )
    assert found.score == 0.4


def test_too_many_pairs_are_undetermined(monkeypatch):
    monkeypatch.setattr(nli, "MAX_PAIRS", 1)
    detector = NLIDetector("x", Table({}), ModelUse("sentences"))
    [found] = detector.ground([_answer(["Ann came.", "Bob went."], ["Cid sat."])])
    assert (found.score, found.failure) == (None, "context_too_long")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nli")
    return {
        "hem_v1": tiny.bert(folder / "one", labels={0: "LABEL_0"}),
        "fact_kb": tiny.bert(folder / "two", labels={0: "LABEL_0", 1: "LABEL_1"}),
        "context_nli": tiny.bert(folder / "three", labels={0: "entailment", 1: "contradiction"}),
        "gc": tiny.bert(folder / "four", labels={0: "LABEL_0"}),
        "reader": tiny.reader_scorer(folder / "reader"),
    }


@pytest.mark.parametrize("name", ["hem_v1", "fact_kb", "context_nli", "gc"])
def test_a_method_loads_its_model_from_a_folder(folders, name):
    settings = DetectorSettings(model=str(folders[name]), device="cpu")
    detector = load_detector(name, settings)
    answer = Answer(("ann came. bob went.",), "ann sat.")
    [alone] = detector.ground([answer])
    [_, beside] = detector.ground([Answer(("dee ran on and on.",), "cid sat."), answer])
    assert 0.0 < alone.score < 1.0
    assert beside.score == pytest.approx(alone.score, abs=1e-5)


def test_a_method_taught_with_the_source_behind_asks_so(folders):
    settings = DetectorSettings(device="cpu")
    folder = str(folders["fact_kb"])
    front = nli.cross_encoder(folder, settings, PublishedHead(1))
    behind = nli.cross_encoder(folder, settings, PublishedHead(1, sentence_first=True))
    assert front.probabilities(["a b"], ["c"])[0] == behind.probabilities(["c"], ["a b"])[0]


def test_the_readers_methods_are_one_arithmetic(folders):
    """What is not entailed stands in for what contradicts: both orders say the same."""
    settings = DetectorSettings(model=str(folders["reader"]), device="cpu")
    answer = Answer(("ann came. bob went.",), "cid sat. dee ran.")
    [context] = load_detector("reader_sentences", settings).ground([answer])
    [trained] = load_detector("gc", settings).ground([answer])
    assert context.score == pytest.approx(trained.score, abs=1e-5)
    [hem] = load_detector("reader_windows", settings).ground([answer])
    assert 0.0 < hem.score < 1.0


def test_gc_without_weights_says_how_to_get_them():
    with pytest.raises(ModelError, match="groundedness train"):
        load_detector("gc")


def test_a_label_that_the_model_lacks_is_refused(folders):
    with pytest.raises(ModelError, match="no logit 3"):
        nli.cross_encoder(str(folders["gc"]), DetectorSettings(), PublishedHead(3))
