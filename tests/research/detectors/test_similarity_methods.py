"""COS_SIM and QuIP: their arithmetic, and an embedding model that lies in a folder."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.detectors.registry import load_detector
from research.detectors.similarity.detectors import bert_score
from research.detectors.similarity.embedding import encoder_embedder, similarities
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.detectors.quip import quoted
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker import tiny

texts = st.text(alphabet="ab c", min_size=1, max_size=30).filter(str.strip)


@given(texts, texts, st.integers(1, 6))
def test_quip_is_the_share_of_n_grams_that_stand_in_the_context(sentence, context, n):
    [share] = quoted([sentence], [context], n)
    assert 0.0 <= share <= 1.0
    inside = " ".join(sentence.split())
    assert quoted([sentence], [f"x {inside} y"], n) == [1.0]
    assert quoted([sentence], ["zzzzzzzz"], n) == [0.0]


def test_quip_counts_by_hand_and_does_not_join_passages():
    assert quoted(["abcd"], ["abc"], 2) == [2 / 3]
    assert quoted(["abcd"], ["ab", "cd"], 4) == [0.0]
    assert quoted(["AB\n c"], ["ab c"], 21) == [1.0]


def test_quip_of_an_answer_is_the_mean_of_its_sentences():
    context = "The lease runs for two years from the first of June."
    answer = Answer((context,), f"{context} Zzzz zzzz zzzz zzzz zzzz zzzz.")
    [found] = load_detector("quip").ground([answer])
    assert found.score == 0.5
    assert [claim.score for claim in found.claims] == [1.0, 0.0]


def test_the_length_of_n_grams_can_be_tuned():
    answer = Answer(("abcdef abcdef",), "abcdex abcdef.")
    found = [
        load_detector("quip", DetectorSettings(model=n)).ground([answer])[0].score
        for n in ("2", "6")
    ]
    assert found[0] > found[1]
    with pytest.raises(ModelError, match="number of characters"):
        load_detector("quip", DetectorSettings(model="some"))


@pytest.fixture(scope="module")
def embedder_folder(tmp_path_factory):
    return tiny.bert(tmp_path_factory.mktemp("embedder") / "e")


def test_a_sentence_is_most_like_itself_in_every_batch(embedder_folder):
    embedder = encoder_embedder(str(embedder_folder), DetectorSettings())
    sentences = ["the tenant pays", "zz 9", "a much longer sentence about the registrar"]
    found = similarities(embedder, sentences, sentences)
    assert np.allclose(np.diag(found), 1.0, atol=1e-3)
    assert np.allclose(found, found.T, atol=1e-3)
    alone = similarities(embedder, sentences[:1], sentences[:1])
    assert alone[0, 0] == pytest.approx(found[0, 0], abs=2e-4)


def test_cos_sim_is_as_grounded_as_its_least_similar_sentence(embedder_folder):
    settings = DetectorSettings(model=str(embedder_folder))
    detector = load_detector("cos_sim", settings)
    answer = Answer(("The tenant pays. The hens stay.",), "The tenant pays. Qxqx 77 vvv.")
    [found, nothing] = detector.ground([answer, Answer((" ",), "The tenant pays.")])
    assert found.score == min(claim.score for claim in found.claims) < 1.0
    assert found.claims[0].score == pytest.approx(1.0, abs=1e-3)
    assert (nothing.score, nothing.failure) == (None, "no_context")


def test_bert_score_is_f1_of_the_best_likeness_of_each_token():
    one = np.array([[1.0, 0.0], [0.0, 1.0]])
    other = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
    precision, recall = (1.0 + 0.8) / 2, (1.0 + 0.8 + 0.0) / 3
    assert bert_score(one, other) == pytest.approx(
        2 * precision * recall / (precision + recall), abs=1e-4
    )
    assert bert_score(one, one) == 1.0
    assert bert_score(one, np.zeros((0, 2))) == 0.0


def test_bert_score_takes_the_best_sentence_and_the_worst_claim(embedder_folder):
    settings = DetectorSettings(model=str(embedder_folder), device="cpu")
    detector = load_detector("bert_score", settings)
    context = ("ann came. bob went home.",)
    same, other, both = detector.ground(
        [
            Answer(context, "bob went home."),
            Answer(context, "zzz 9 qqq."),
            Answer(context, "bob went home. zzz 9 qqq."),
        ]
    )
    assert same.score == pytest.approx(1.0, abs=1e-3)
    assert other.score < 0.95
    assert both.score == pytest.approx(other.score, abs=1e-3)
