"""Sentences that deny each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.agents.claims import PassageIndex, ground_claim, split_claims
from safepassage.agents.contradicting_sentences import MAX_SENTENCES, denials
from safepassage.schemas import AlignedExtraction, Response


@pytest.mark.parametrize(
    ("one", "other", "deny"),
    [
        ("Maria is a citizen of Iran.", "Maria is not a citizen of Iran.", True),
        ("The tenant paid the rent.", "The tenant didn't pay the rent.", True),
        ("Der Mieter hat einen Hund.", "Der Mieter hat keinen Hund.", False),  # "einen" is a word
        ("El paciente toma insulina.", "El paciente no toma insulina.", True),
        ("Maria is a citizen of Iran.", "Maria is not a citizen of Iraq.", False),
        ("Maria is a citizen of Iran.", "Maria is a citizen of Iran.", False),
        ("The dose is 5 mg a day.", "The dose is not 50 mg a day.", False),
        ("Yes.", "No.", False),
    ],
)
def test_a_sentence_and_its_denial(one, other, deny):
    assert denials([one, other]) == ([(1,), (0,)] if deny else [(), ()])


@given(st.lists(st.text(max_size=60), max_size=8))
def test_denying_is_mutual(sentences):
    found = denials(sentences)
    assert len(found) == len(sentences)
    assert all(one in found[other] for one, others in enumerate(found) for other in others)


def test_work_is_bounded():
    sentences = ["It is a red house.", "It is not a red house."] * 5_000
    found = denials(sentences)
    assert len(found) == 10_000
    assert not any(found[MAX_SENTENCES:])


def test_claims_carry_their_denials_and_the_passages_for_them():
    text = "Maria Lopez is a citizen of Iran. She lives in Rome."
    answer = "Maria is a citizen of Iran. She lives in Rome. Maria is not a citizen of Iran."
    response = Response(id="r", context=text, response=answer)
    first, plain, last = split_claims(response, response.ref())
    # What the first is judged by may not change with what is written after it.
    assert first.rivals == plain.rivals == ()
    assert [rival.id for rival in last.rivals] == [first.id]
    grounded = ground_claim(last, PassageIndex(text))
    assert isinstance(grounded, AlignedExtraction)
    [contender] = grounded.contenders
    assert contender.extraction.value == first.text
    assert contender.alignment.found
