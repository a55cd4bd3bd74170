"""One retriever of passages for a claim: exact about which passage, whatever the context."""

from hypothesis import given
from hypothesis import strategies as st

from safepassage.passages.retrieval import MAX_PASSAGE_CHARACTERS, MAX_SENTENCES, Retriever

RENT = "The rent of the flat was 900 euros."
DEPOSIT = "A deposit of 1,800 euros was paid."
TABLE = "Item | Due\nRent | 900 euros\nHeating | 80 euros"
texts = st.text(st.sampled_from("ab é.\n!•-1🙂\u0301|"), max_size=120)


def _texts(context, claim):
    found = Retriever(context).retrieve(claim)
    return [(one.passage, context[one.passage][one.start : one.end]) for one in found]


def test_the_passage_that_speaks_of_a_claim_is_named_exactly():
    context = ["Dogs bark.", f"Nothing. {RENT}", DEPOSIT]
    assert _texts(context, "The rent was 900 euros.") == [(1, RENT)]


def test_sentences_of_several_passages_are_kept_apart():
    found = _texts([RENT, DEPOSIT], "The rent was 900 and the deposit 1,800 euros.")
    assert found == [(0, RENT), (1, DEPOSIT)]


def test_neighbours_of_one_passage_are_one():
    found = _texts([f"{RENT} {DEPOSIT}"], "The rent was 900 and the deposit 1,800 euros.")
    assert found == [(0, f"{RENT} {DEPOSIT}")]


def test_a_table_is_searched_like_any_passage():
    [(passage, text)] = _texts(["Dogs bark.", TABLE], "Heating costs 80 euros.")
    assert passage == 1
    assert "Heating | 80 euros" in text


def test_a_sentence_far_into_a_long_context_is_found():
    long = " ".join(f"Paragraph {n} is about something else." for n in range(3_000))
    [(_, text)] = _texts([f"{long} {RENT} {long}"], "The rent was 900 euros.")
    assert RENT in text


def test_nothing_is_retrieved_where_nothing_is_shared():
    assert _texts([RENT], "Quantum chromodynamics.") == []
    assert _texts([], RENT) == []


@given(st.lists(texts, max_size=4), texts)
def test_what_is_retrieved_is_bounded_in_order_and_of_its_passage(context, claim):
    found = Retriever(context).retrieve(claim)
    places = [(one.passage, one.start, one.end) for one in found]
    assert places == sorted(places)
    assert len(found) <= MAX_SENTENCES
    assert all(0 < one.share <= 1 for one in found)
    assert all(0 <= one.start < one.end <= len(context[one.passage]) for one in found)
    assert sum(one.end - one.start for one in found) <= MAX_PASSAGE_CHARACTERS + 10 * MAX_SENTENCES
