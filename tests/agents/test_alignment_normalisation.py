"""Normalised text equals its definition, and every character knows where it came from."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.agents.alignment import normalisation
from safepassage.agents.alignment.normalisation import (
    ExpansionError,
    joins,
    normalise,
    normalised_context,
)

SINGLE_QUOTES = "‘’‚‛‹›′‵`´"
DOUBLE_QUOTES = "“”„‟«»″‶〝〞"
DASHES = "‐‑‒–—―−﹘﹣－"
DROPPED = "\u00ad\u200b\u200c\u200d\u2060\ufeff"

# Scripts and marks that expand, compose, fold, vanish or come in pairs of surrogates.
CHARACTERS = st.one_of(
    st.sampled_from(SINGLE_QUOTES + DOUBLE_QUOTES + DASHES + DROPPED + "ßİﬃ½ﷺΐ…\ud800\udfff"),
    st.characters(min_codepoint=0x20, max_codepoint=0x17F),
    st.characters(min_codepoint=0x300, max_codepoint=0x345),
    st.characters(min_codepoint=0x900, max_codepoint=0x9FF),
    st.characters(min_codepoint=0x1100, max_codepoint=0x11FF),
    st.characters(min_codepoint=0xFF61, max_codepoint=0xFFDF),
    st.characters(),
)
TEXTS = st.text(CHARACTERS, max_size=12)


def defined(text):
    """The definition, one step after another on the whole text."""
    fold = str.maketrans(
        dict.fromkeys(SINGLE_QUOTES, "'")
        | dict.fromkeys(DOUBLE_QUOTES, '"')
        | dict.fromkeys(DASHES, "-")
    )
    text = re.sub("[\ud800-\udfff]", "\ufffd", text.translate(fold))
    text = unicodedata.normalize("NFKC", text).casefold().translate(fold)
    text = "".join(c for c in text if c not in normalisation._ZERO_WIDTH)
    return re.sub(r"\s+", " ", text)


@settings(max_examples=1000, deadline=None)
@given(TEXTS)
def test_normalised_text_is_as_defined(text):
    """The table and the clusters together do what the steps do on the whole."""
    assert normalise(text).text == defined(text)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_chunks_make_no_difference(text):
    """A text taken in pieces of two characters is normalised as one."""
    whole = normalise(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normalisation, "_CHUNK", 2)
        pieces = normalise(text)
    assert pieces.text == whole.text
    assert pieces.starts.tolist() == whole.starts.tolist()
    assert pieces.ends.tolist() == whole.ends.tolist()


@settings(max_examples=500, deadline=None)
@given(TEXTS)
def test_each_character_maps_to_what_it_came_from(text):
    """The slice a character maps to is not empty, ascends, and normalises to that character."""
    document = normalise(text)
    previous = 0
    for character, start, end in zip(document.text, document.starts, document.ends, strict=True):
        assert previous <= start < end <= len(text)
        assert character in defined(text[start:end])
        previous = start


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_a_context_is_the_normalised_text_without_outer_blanks(text):
    """The short way for ASCII contexts gives the same as the long one."""
    assert normalised_context(text) == defined(text).strip(" ")
    ascii_text = text.encode("ascii", "replace").decode()
    assert normalised_context(ascii_text) == defined(ascii_text).strip(" ")


def test_joins_knows_every_character_that_composes_with_the_one_before():
    """All second halves of canonical compositions and all reordered marks of Unicode."""
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.combining(character):
            assert joins(character), hex(code)
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and parts[0][0] != "<":
            assert joins(chr(int(parts[1], 16))), parts


def test_a_composed_character_maps_to_base_and_mark():
    """A decomposed letter is one character that covers both code points."""
    document = normalise("la de\u0301cision")
    assert document.text == "la décision"
    assert document.original(4, 5) == (4, 6)


def test_a_character_that_expands_maps_to_itself():
    """Each letter of a ligature covers the ligature."""
    document = normalise("oﬃce")
    assert document.text == "office"
    assert [document.original(i, i + 1) for i in range(6)] == [
        (0, 1),
        (1, 2),
        (1, 2),
        (1, 2),
        (2, 3),
        (3, 4),
    ]


def test_a_run_of_blanks_maps_to_the_whole_run():
    """Blanks of all kinds, also around a dropped character, are one."""
    document = normalise("a \u00a0\u200b\r\n\tb")
    assert document.text == "a b"
    assert document.original(1, 2) == (1, 7)


def test_marks_beyond_any_script_are_taken_in_pieces():
    """A base under thousands of marks (an attack on the quadratic reordering) keeps them all."""
    document = normalise("a" + "\u0316\u0301" * 5_000)
    assert len(document.text) > 9_000


def test_a_text_that_explodes_is_refused():
    """One character that becomes eighteen cannot multiply the memory of a document."""
    with pytest.raises(ExpansionError):
        normalise("\ufdfa" * 1_000)
    assert len(normalise("\ufdfa").text) == 18
