"""Features of sentences: words, surprise, likeness, relevance."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.passages.words import content_words
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.ragulator.features import (
    EXTENDED,
    PAPER,
    RISING,
    indexed,
    lexical_features,
    mean_surprise,
)
from safepassage.scoring_worker.detectors.ragulator.measurement import ClaimMeasure
from safepassage.scoring_worker.detectors.ragulator.word_vectors import RAREST, WordVectors
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker.detectors.doubles import WordScorer

RENT = "The rent of the flat was 900 euros a month."
texts = st.text(st.sampled_from("ab é.\n!•-1🙂\u0301"), max_size=80)


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors()


def _features(claim, context, vectors):
    return lexical_features(claim, indexed(context, vectors), vectors)


def test_words_are_compared_without_case_signs_stop_words_and_endings():
    assert content_words("The Landlords, dismissed!") == content_words("a landlord dismisses")
    assert content_words("1,800.5 euros") == ["1,800.5", "euro"]
    assert content_words("It is.") == ["it", "is"]


def test_a_sentence_of_the_context_is_as_precise_and_alike_as_can_be(vectors):
    found = _features(RENT, ["Dogs bark.", RENT], vectors)
    assert found["token_precision"] == found["weighted_precision"] == 1.0
    assert found["max_similarity"] == found["word_similarity"] == pytest.approx(1.0, abs=1e-3)
    assert found["missing_weight"] == found["missing_figures"] == 0.0


def test_a_missing_figure_and_rare_words_weigh(vectors):
    common = _features("The rent was good.", [RENT], vectors)
    rare = _features("The rent was phosphorescent.", [RENT], vectors)
    assert rare["missing_weight"] > common["missing_weight"] > 0
    assert _features("The rent was 950 euros.", [RENT], vectors)["missing_figures"] == 1
    assert 0 <= vectors.rarity("the") < vectors.rarity("phosphorescent") <= RAREST


def test_surprise_is_the_mean_negative_log_probability_add_one_smoothed():
    from collections import Counter

    counted = Counter("aab")
    # three tokens, two kinds and one for all that is unseen
    wanted = -(math.log(3 / 6) + math.log(1 / 6)) / 2
    assert mean_surprise(["a", "z"], counted) == pytest.approx(wanted)
    assert mean_surprise([], counted) == 0.0


def test_the_order_of_passages_moves_no_feature(vectors):
    context = [RENT, "Dogs bark.", "The lease began in May."]
    claim = "The lease began when dogs barked."
    assert _features(claim, context, vectors) == _features(claim, context[::-1], vectors)


@settings(max_examples=60, deadline=None)
@given(claim=texts, context=st.lists(texts, max_size=3))
def test_features_are_finite_and_shares_are_shares(vectors, claim, context):
    found = _features(claim, context, vectors)
    assert all(math.isfinite(value) for value in found.values())
    for name in ("token_precision", "weighted_precision"):
        assert 0 <= found[name] <= 1
    assert found["unigram_perplexity"] >= 0
    assert set(found) | {"max_relevance"} == set(EXTENDED) == set(RISING) >= set(PAPER)


def test_a_folder_without_embeddings_is_said_to_be_one(tmp_path):
    with pytest.raises(ModelError, match="no word embeddings"):
        WordVectors(tmp_path)


def test_relevance_is_read_on_the_passage_that_is_retrieved_and_passages_are_named(vectors):
    scorer = WordScorer()
    measure = ClaimMeasure(vectors, scorer)
    claim = "The rent was 900 euros."
    [[found]] = measure.measure([Answer(("Dogs bark.", f"Cats sleep. {RENT}"), claim)])
    assert [pair.premise for pair in scorer.asked] == [RENT]
    assert found.features["max_relevance"] == 1.0
    [passage] = found.passages
    assert passage.passage == 1
    assert f"Cats sleep. {RENT}"[passage.start : passage.end] == RENT


def test_what_shares_no_word_has_no_relevance_and_costs_no_pair(vectors):
    scorer = WordScorer()
    [[found]] = ClaimMeasure(vectors, scorer).measure([Answer((RENT,), "Quantum fields.")])
    assert found.features["max_relevance"] == 0.0
    assert scorer.asked == []


@pytest.mark.parametrize(
    ("context", "response", "why"),
    [
        ((" ",), RENT, "no_context"),
        ((RENT,), "…", "no_claims"),
        (("a " * 600_000,), RENT, "context_too_long"),
    ],
)
def test_what_cannot_be_measured_says_why_and_loses_no_other(vectors, context, response, why):
    measure = ClaimMeasure(vectors, WordScorer())
    bad, good = measure.measure([Answer(context, response), Answer((RENT,), RENT)])
    assert bad == why
    assert len(good) == 1


def test_a_pair_that_cannot_be_scored_is_a_failure_of_its_claim_alone(vectors):
    measure = ClaimMeasure(vectors, WordScorer())
    context = ("The broken rent.", "The lease began in May.")
    [[bad, good]] = measure.measure([Answer(context, "The rent is broken. The lease began.")])
    assert bad.failure == "scorer_failed"
    assert good.failure is None


def test_a_measure_says_what_it_measures_with(vectors):
    measure = ClaimMeasure(vectors, WordScorer())
    assert {one: used.name for one, used in measure.measures.items()} == {
        "similarity": "word vectors", "relevance": "words"
    }  # fmt: skip
    with pytest.raises(ValueError, match="a scorer or a reranker"):
        ClaimMeasure(vectors, None)
