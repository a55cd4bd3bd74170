"""The paper's measures: an encoder's similarity, a reranker's relevance."""

import numpy as np
import pytest

from research.detectors.ragulator.model_measure import ModelMeasure
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.ragulator.measurement import ClaimMeasure
from safepassage.scoring_worker.detectors.ragulator.word_vectors import WordVectors
from tests.scoring_worker.detectors.doubles import WordScorer


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors()


class Embeds:
    """A sentence encoder of two directions: sentences about rent, and all others."""

    revision = "rent-or-not"

    def embed(self, sentences):
        return np.array([[1.0, 0.0] if "rent" in text else [0.0, 1.0] for text in sentences])


class Reranks:
    """Relevant is a sentence with "900" in it; "broken" cannot be read."""

    revision = "nine-hundred"

    def __init__(self):
        self.asked = []

    def probabilities(self, sources, sentences):
        self.asked += zip(sources, sentences, strict=True)
        return np.array([np.nan if "broken" in s else 0.9 if "900" in s else 0.2 for s in sources])


def test_similarity_and_relevance_are_the_best_over_every_sentence_of_the_context(vectors):
    reranker = Reranks()
    measure = ModelMeasure(
        vectors, None, embedder=("bge", Embeds()), reranker=("reranker", reranker)
    )
    context = ("Dogs bark. Cats sleep.", "It was 900 in all. The rent rose.")
    [[found]] = measure.measure([Answer(context, "The rent is high.")])
    assert found.features["max_similarity"] == 1.0
    assert found.features["max_relevance"] == 0.9
    assert [source for source, _ in reranker.asked] == [
        "Dogs bark.", "Cats sleep.", "It was 900 in all.", "The rent rose."
    ]  # fmt: skip
    assert {sentence for _, sentence in reranker.asked} == {"The rent is high."}
    measure.close()


def test_a_sentence_that_the_reranker_cannot_read_is_a_failure(vectors):
    measure = ModelMeasure(vectors, None, reranker=("reranker", Reranks()))
    [[found]] = measure.measure([Answer(("It is broken. It was 900.",), "The rent is high.")])
    assert found.failure == "relevance_not_read"


def test_the_measures_are_named_and_change_the_revision(vectors):
    plain = ClaimMeasure(vectors, WordScorer())
    assert ModelMeasure(vectors, WordScorer()).revision == plain.revision
    other = ModelMeasure(vectors, WordScorer(), embedder=("bge", Embeds()))
    assert other.measures["similarity"].revision == "rent-or-not"
    assert other.measures["relevance"] == plain.measures["relevance"]
    assert other.revision != plain.revision
