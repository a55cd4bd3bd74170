"""Words of any script: found where they stand, and never by parts of words."""

from __future__ import annotations

import unicodedata
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison.contract import Comparison, Passage, Place
from safepassage.scoring_worker.comparison.identifiers.comparator import compare_identifiers
from safepassage.scoring_worker.comparison.names.comparator import compare_names
from safepassage.scoring_worker.comparison.names.words import compare_words
from safepassage.scoring_worker.text.segmentation import words_of
from tests.scoring_worker.comparison.texts import LOCALES, SENTENCES, cldr_names

NAMES = cldr_names()


def compare(value: str, quote: str) -> Comparison:
    return compare_words(value, Passage(quote))


def codes(comparison: Comparison) -> list[str]:
    return [finding.code for finding in comparison.findings]


@settings(deadline=None)
@given(st.sampled_from(sorted(SENTENCES)), st.data())
def test_what_is_cut_out_at_the_edges_of_words_is_the_same_and_there(
    language: str, data: st.DataObject
) -> None:
    quote = SENTENCES[language]
    words = words_of(quote)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    place = Place(words[first].start, words[last].end)
    value = quote[place.start : place.end]
    for found in (compare(value, quote), compare_names(value, Passage(quote), "Name")):
        assert found.answer == "same"
        assert place in found.places


@settings(deadline=None)
@given(st.sampled_from(sorted(SENTENCES)), st.sampled_from(["NFD", "NFKD", "upper", "blanks"]))
def test_the_way_of_writing_changes_nothing(language: str, way: str) -> None:
    quote = SENTENCES[language]
    if way == "upper":
        value = quote.upper()
    elif way == "blanks":
        value = quote.replace(" ", "\u00a0\n ")
    else:
        value = unicodedata.normalize(way, quote)  # type: ignore[arg-type]
    assert compare(value, quote).answer == "same"


@settings(deadline=None)
@given(st.sampled_from(LOCALES), st.data())
def test_a_name_of_cldr_is_found_in_a_sentence(language: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES[language]))
    before = data.draw(st.sampled_from(["", "a: ", "(", "1. ", "— "]))
    after = data.draw(st.sampled_from(["", ".", ", b", ")", " 2020"]))
    quote = f"{before}{name}{after}"
    words = words_of(name)
    place = Place(len(before) + words[0].start, len(before) + words[-1].end)
    found = compare_names(name, Passage(quote), "Name")
    assert found.answer == "same"
    assert place in found.places


@settings(deadline=None)
@given(st.sampled_from(LOCALES), st.data())
def test_two_names_of_cldr_are_never_the_same(language: str, data: st.DataObject) -> None:
    name, other = data.draw(st.lists(st.sampled_from(NAMES[language]), min_size=2, max_size=2))
    mine = {word.keys.plain for word in words_of(name)}
    if not mine <= {key for word in words_of(other) for key in word.keys}:
        assert compare(name, other).answer != "same"


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=40))
def test_any_text_is_compared_without_an_error(value: str, quote: str, around: str) -> None:
    passage = Passage(quote, before=around, after=around, heading=around)
    for found in (compare_words(value, passage), compare_names(value, passage, around)):
        for place in (*found.places, *found.rivals):
            assert 0 <= place.start < place.end <= len(quote)


@pytest.mark.parametrize(
    ("value", "quote", "answer"),
    [
        ("cafe", "ein Café am Platz", "same"),
        ("STRASSE", "die Straße", "same"),
        ("ISPARTA", "ısparta", "same"),
        ("ﬁnal oﬀer", "the final offer", "same"),
        ("ＡＢＣ", "abc", "same"),
        ("ﾄﾖﾀ", "トヨタの", "same"),
        ("email", "by e-mail", "same"),
        ("state of the art", "a state-of-the-art mill", "same"),
        ("5 mg", "5mg daily", "same"),
        ("exam\u00adple", "an example", "same"),
        ("example", "an exam-\nple", "same"),
        ("US", "in the U.S. in 1960", "same"),
        ("✓", "paid ✓", "same"),
        ("C++", "C++ and Java", "same"),
        ("C++", "C# and Java", "not_comparable"),
        ("C", "C++ and Java", "not_comparable"),
        ("A", "blood group A-", "not_comparable"),
        ("therapist", "the rapist", "not_comparable"),
        ("5mg", "15mg", "not_comparable"),
        ("5", "2.5 litres", "not_comparable"),
        ("art", "a party", "not_comparable"),
        ("राम", "रोम", "not_comparable"),
        ("か", "が", "not_comparable"),
        ("Section 12", "under Section 13 of the Act", "different"),
        ("Section 5", "under Section 05", "not_comparable"),
        ("Section 12", "under Section twelve", "not_comparable"),
        ("married", "with his wife", "not_comparable"),
        ("", "anything", "not_comparable"),
        ("anything", "", "not_comparable"),
    ],
)
def test_words(value: str, quote: str, answer: str) -> None:
    assert compare(value, quote).answer == answer


def test_every_word_of_a_long_value_is_compared() -> None:
    long = " ".join(f"word{number}" for number in range(500))
    assert compare(long, f"so: {long}.").answer == "same"
    found = compare(f"{long} not", f"so: {long}.")
    assert found.answer == "not_comparable"
    assert codes(found) == ["words_missing"]


@pytest.mark.parametrize(
    ("value", "quote", "code"),
    [
        ("claims accepted", "the claims were accepted", "words_scattered"),
        ("accepting the claim", "the claims were accepted", "words_scattered"),
        ("wife", "husband", "words_missing"),
        ("Café Noir", "the Cafe Noir", "accents_differ"),
        ("data base", "the database", "spacing_differs"),
        ("myocardial infarction", "admitted with MI", "acronym_possible"),
        ("multiple sclerosis", "admitted with MI", "acronym_differs"),
        ("Magnetresonanztomographie", "Ein MRT wurde gemacht", "acronym_possible"),
        ("Personenkraftwagen", "ein PKW", "acronym_possible"),
        ("deoxyribonucleic acid", "the DNA was read", "acronym_possible"),
        ("posttraumatic stress disorder", "treated for PTSD", "acronym_possible"),
        ("Lastkraftwagen", "ein PKW", "words_missing"),
        ("Personenkraftwagen", "ein PWK", "words_missing"),
        ("ribonucleic acid", "the DNA was read", "words_missing"),
        ("Personen", "ein PKW", "words_missing"),
    ],
)
def test_what_was_seen_is_said(value: str, quote: str, code: str) -> None:
    assert code in codes(compare(value, quote))


def test_words_beside_the_quote_are_not_quoted() -> None:
    found = compare_words("old mill", Passage("was let", before="The old mill "))
    assert found.answer == "not_comparable"
    assert "outside_quote" in codes(found)


COMPARATORS = (
    compare_words,
    partial(compare_names, entity_type="Name"),
    partial(compare_identifiers, entity_type="Name"),
)


@pytest.mark.parametrize(
    "piece", ["a", "a ", "aa ", "A. ", "1-", "漢", "a@", "a\u0301", "\u202e", "\ud800"]
)
def test_long_texts_of_one_piece_are_answered(piece: str) -> None:
    quote = (piece * 20_000)[:20_000]
    for value in ("王小明", f"{quote[:10_001]}b"):
        passage = Passage(quote)
        for compared in COMPARATORS:
            assert compared(value, passage).answer != "same"


def test_what_is_too_long_to_be_read_is_never_the_same() -> None:
    quote = "a " * 60_000
    for compared in COMPARATORS:
        assert compared(quote, Passage(quote)).answer == "not_comparable"
