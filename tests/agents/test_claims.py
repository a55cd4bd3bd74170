"""Free-text answers: sentences, and the passages that may support them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.agents.claims import (
    PassageIndex,
    ground_claim,
    ground_claims,
    sentences_without_claim,
    split_claims,
)
from safepassage.passages.retrieval import MAX_PASSAGE_CHARACTERS, MAX_SENTENCES
from safepassage.schemas import AlignedExtraction, Alignment, Claim, Part, Response, Verdict

PASSAGES = [
    "The lease of the flat on Mill Road began on 1 May 2019. It ran for three years.",
    "The rent was 900 euros a month.\nHeating was not included. The landlord, Ms. Okafor v. the "
    "tenant, kept the deposit of 1,800 euros.",
    "The weather was fine.",
]
words = st.text(st.sampled_from("ab é.\n!•-1🙂\u0301"), max_size=200)


def _response(text: str, context: str | list[str] = "") -> Response:
    return Response(id="r", context=context or PASSAGES, response=text)


def _claims(text: str) -> list[Claim]:
    response = _response(text)
    return split_claims(response, response.ref())


def _claim(text: str) -> Claim:
    [claim] = _claims(text)
    return claim


@given(words)
def test_every_claim_is_an_exact_slice_and_nothing_said_is_lost(text):
    claims = _claims(text)
    position = 0
    for ordinal, claim in enumerate(claims):
        assert claim.ordinal == ordinal
        assert text[claim.start : claim.end] == claim.text == claim.text.strip()
        assert not any(character.isalnum() for character in text[position : claim.start])
        position = claim.end
    assert not any(character.isalnum() for character in text[position:])


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It began in May. It ended in June.", ["It began in May.", "It ended in June."]),
        ("Dr. Roe cited Smith v. Jones.", ["Dr. Roe cited Smith v. Jones."]),
        ("Two points:\n- the rent\n- the deposit", ["Two points:", "- the rent", "- the deposit"]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        ("Heading\n\nText follows here.", ["Heading", "Text follows here."]),
        ("one line\nbroken in two.", ["one line\nbroken in two."]),
        ("It rained. --- ...", ["It rained."]),
        (" \n ", []),
        ("", []),
    ],
)
def test_a_response_is_split_into_what_can_be_judged_by_itself(text, sentences):
    assert [claim.text for claim in _claims(text)] == sentences


def test_claims_have_deterministic_ids_that_tell_repetitions_apart():
    first, second = _claims("It rained. It rained.")
    assert first.id != second.id
    assert [first, second] == _claims("It rained. It rained.")
    other = _response("It rained.", "another text")
    assert split_claims(other, other.ref())[0].id != first.id


def _retrieved(claim: Claim, text: str) -> Alignment:
    return PassageIndex(text, claim.passages).retrieve(claim.text)


def _spans(claim: str, text: str | None = None) -> list[str]:
    text = _response("").text if text is None else text
    alignment = _retrieved(_claim(claim), text)
    assert all(text[span.start : span.end] == span.text for span in alignment.spans)
    assert [*alignment.spans] == sorted(alignment.spans, key=lambda span: span.start)
    assert alignment.matches == alignment.length == sum(len(s.text) for s in alignment.spans)
    return [span.text for span in alignment.spans]


def test_the_sentence_that_speaks_of_it_is_found_among_others():
    assert _spans("The monthly rent was 900 euros.") == ["The rent was 900 euros a month."]


def test_a_claim_may_rest_on_sentences_of_several_passages():
    spans = _spans("The lease on Mill Road began in May 2019 and the landlord kept the deposit.")
    assert spans[0].startswith("The lease of the flat on Mill Road")
    assert spans[1].endswith("kept the deposit of 1,800 euros.")


def test_neighbours_are_one_span():
    assert _spans("A lease on Mill Road that ran three years.") == [PASSAGES[0]]


def test_inflected_words_are_found():
    text = "The appeal was dismissed. The hearing took place in Toronto."
    assert _spans("Dismissal of the appeals.", text) == ["The appeal was dismissed."]


@pytest.mark.parametrize("claim", ["Quantum chromodynamics.", "It was so.", "What of whom?"])
def test_where_nothing_is_shared_nothing_is_found(claim):
    assert _spans(claim) == []
    alignment = _retrieved(_claim(claim), _response("").text)
    assert (alignment.score, alignment.found, alignment.route) == (0.0, False, "retrieved")


@given(claim=st.text(max_size=80), text=words)
def test_any_claim_on_any_text_has_exact_and_bounded_passages(claim, text):
    alignment = PassageIndex(text).retrieve(claim)
    assert all(text[span.start : span.end] == span.text for span in alignment.spans)
    assert alignment.found == bool(alignment.spans)


def test_a_passage_is_bounded_even_where_nothing_ends_a_sentence():
    text = " ".join(f"word{number}" for number in range(5000))
    alignment = PassageIndex(text).retrieve(text)
    assert 0 < len(alignment.spans) <= MAX_SENTENCES
    assert len(alignment.passage) <= MAX_PASSAGE_CHARACTERS + 10 * MAX_SENTENCES


def test_a_claim_that_is_supported_goes_on_to_the_scorer():
    claim = _claim("The monthly rent was 900 euros.")
    aligned = ground_claim(claim, PassageIndex(_response("").text))
    assert isinstance(aligned, AlignedExtraction)
    assert aligned.alignment.found
    assert aligned.extraction.id == claim.id
    assert aligned.extraction.context == aligned.alignment.passage
    assert aligned.extraction.hypothesis == claim.text
    assert aligned.document == claim.document


def test_a_claim_that_nothing_speaks_of_is_quarantined_at_once():
    verdict = ground_claim(_claim("Quantum chromodynamics."), PassageIndex("The rent."))
    assert isinstance(verdict, Verdict)
    assert (verdict.decision, verdict.reasons) == ("quarantined", ("not_found",))
    assert verdict.value == "Quantum chromodynamics."


def test_an_empty_text_bears_out_nothing():
    assert isinstance(ground_claim(_claim("The rent."), PassageIndex("")), Verdict)


def test_a_claim_on_several_passages_says_of_which_each_span_is():
    response = _response("Heating was not included. The lease began on 1 May 2019.")
    for claim, wanted in zip(split_claims(response, response.ref()), (1, 0), strict=True):
        [found] = ground_claims([claim], response.text)
        assert isinstance(found, AlignedExtraction)
        consulted, spans = found.alignment.consulted, found.alignment.spans
        for passage, span in zip(consulted, spans, strict=True):
            assert PASSAGES[passage.passage][passage.start : passage.end] == span.text
            assert response.text[span.start : span.end] == span.text
        assert wanted in {passage.passage for passage in consulted}


@pytest.mark.parametrize("idle", ["I hope this helps!", "Ich hoffe, das hilft Ihnen.", "Thanks!"])
def test_a_sentence_that_claims_nothing_is_no_claim_and_is_counted(idle):
    answer = f"The appeal was dismissed. {idle} Costs were awarded."
    response = Response(id="r", context="The appeal was dismissed.", response=answer)
    claims = split_claims(response, response.ref())
    assert [claim.text for claim in claims] == ["The appeal was dismissed.", "Costs were awarded."]
    assert [claim.ordinal for claim in claims] == [0, 2]
    assert sentences_without_claim(response) == 1


def test_in_parts_each_claim_comes_once_whatever_claims_nothing_before_it():
    whole = "Hello! The appeal was dismissed. I hope this helps! Costs were awarded. "
    texts, since = [], 0
    for end in (8, 20, 45, 60, len(whole)):
        part = Part(since=since, final=end == len(whole))
        response = Response(id="r", context="x", response=whole[:end], part=part)
        texts += [claim.text for claim in split_claims(response, response.ref())]
        since = end
    assert texts == ["The appeal was dismissed.", "Costs were awarded."]


def test_marks_of_citation_and_markdown_are_not_looked_for():
    text = "The rent is £2,500 a month.\n\nSource 1 is a list."
    (claim,) = _claims("- **The rent** is £2,500 [Source 1].")
    found = _retrieved(claim, text)
    assert found.passage == "The rent is £2,500 a month."
    assert not found.absent


@pytest.mark.parametrize(
    ("text", "claim", "passage"),
    [
        (
            "会議は月曜日に開かれた。\n\n予算は可決された。",
            "予算が可決された。",
            "予算は可決された。",
        ),
        ("合同于五月签订。\n\n租金为每月五百元。", "每月租金是五百元。", "租金为每月五百元。"),
    ],
)
def test_a_claim_without_blanks_finds_its_passage(text, claim, passage):
    (asked,) = _claims(claim)
    assert _retrieved(asked, text).passage == passage
