"""What is said of a claim: the words it shares, and a forest that works one way only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.agents.claims import ground_claims, split_claims
from safepassage.schemas import CLAIM_TYPE, AlignedExtraction, Response, hypothesis
from safepassage.scoring_worker.forest import Forest
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.weighing.claim_support import (
    CLAIMS_FILE,
    FEATURES,
    FILE,
    RISING,
    claim_support,
    forest_of,
    packaged_forest,
    reading,
)
from safepassage.scoring_worker.weighing.opinion import UNREAD, Opinion, opinion_of
from safepassage.scoring_worker.weighing.overlap import OVERLAP, overlap
from safepassage.scoring_worker.weighing.questions import parts_of

PASSAGE = "The rent was 900 euros a month."
features = st.fixed_dictionaries(
    {
        "reading": st.floats(-1, 1),
        "token_precision": st.floats(0, 1),
        "absent_words": st.floats(0, 40),
        "absent_figures": st.floats(0, 9),
        "unigram_surprise": st.floats(0, 7),
        "bigram_surprise": st.floats(0, 7),
    }
)


@given(features, st.sampled_from(FEATURES), st.floats(0, 10))
def test_no_feature_ever_works_the_other_way(given_features, name, step):
    worse = {**given_features, name: given_features[name] + RISING[name] * step}
    assert (
        claim_support(worse, packaged_forest())
        <= claim_support(given_features, packaged_forest()) + 1e-9
    )


def test_a_feature_that_is_missing_is_an_error():
    with pytest.raises(KeyError):
        claim_support(dict.fromkeys(OVERLAP, 0.0), packaged_forest())


def test_the_reading_is_of_the_whole_where_no_word_was_read():
    assert reading({"entailed": 0.5}) == {"reading": 0.5}
    assert reading({"entailed": 1.0, "founded_least": -1.0}) == {"reading": 0.5}


def test_what_is_absent_counts_once_and_figures_apart():
    claim = "Rent of 950, rent of 950 for Bo."
    places = [(m, m + 3) for m in (8, 21)] + [(29, 31)]
    assert [claim[a:b] for a, b in places] == ["950", "950", "Bo"]
    found = overlap(claim, PASSAGE, places)
    assert found["absent_words"] == 2
    assert found["absent_figures"] == 1
    assert found["token_precision"] == pytest.approx(1 / 3, abs=1e-4)


def test_where_nobody_looked_the_passage_decides_what_is_absent():
    claim = "The rent was 900 euros, paid in Leith."
    assert overlap(claim, PASSAGE) == overlap(claim, PASSAGE, [(24, 28), (32, 37)])


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_has_features_that_are_numbers(claim, passage):
    found = overlap(claim, passage)
    assert found.keys() == set(OVERLAP)
    assert 0 <= found["token_precision"] <= 1


def _pair(answer: str, context: list[str]) -> Pair:
    response = Response(id="r", context=context, response=answer)
    [aligned] = ground_claims(split_claims(response, response.ref()), response.text)
    assert isinstance(aligned, AlignedExtraction)
    return Pair.of(aligned)


def test_a_pair_knows_which_words_stand_nowhere_in_the_context():
    answer = "The rent was 900 euros in Leith, paid to Bo."
    pair = _pair(answer, [PASSAGE, "Bo barks."])
    assert [answer[a:b] for a, b in pair.absent or ()] == ["Leith", "paid"]
    assert parts_of(pair)[0].known["absent_words"] == 2


def test_a_claim_of_which_nothing_speaks_is_judged_by_its_words():
    [part] = parts_of(Pair("", hypothesis(CLAIM_TYPE, "Dogs bark."), CLAIM_TYPE, "Dogs bark."))
    assert part.unread
    opinion = opinion_of(part, None, None, packaged_forest())
    assert isinstance(opinion, Opinion)
    assert opinion.features["entailed"] == UNREAD["entailed"]
    assert opinion.features["borne_out"] < 0


def test_a_model_may_bring_the_forest_of_its_own_reader(tmp_path):
    """And none of other features: it would be weighed as something else."""
    assert forest_of(tmp_path) is packaged_forest()
    forest = Forest.load(FILE)
    half = forest.model_copy(update={"trees": forest.trees[:1]})
    (tmp_path / CLAIMS_FILE).write_text(half.model_dump_json())
    alike = dict.fromkeys(FEATURES, 0.5)
    assert claim_support(alike, forest_of(tmp_path)) != claim_support(alike, packaged_forest())
    (tmp_path / "other").mkdir()
    other = forest.model_copy(update={"features": tuple(reversed(FEATURES))})
    (tmp_path / "other" / CLAIMS_FILE).write_text(other.model_dump_json())
    with pytest.raises(ModelError, match="other features"):
        forest_of(tmp_path / "other")
