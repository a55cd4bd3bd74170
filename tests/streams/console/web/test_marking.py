"""Differences, excerpts and hostile text, as a reviewer sees them."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import Span
from safepassage.streams.console.web.marking import (
    MAX_SHOWN_CHARACTERS,
    Piece,
    compare,
    cut,
    excerpt,
    visible,
    visible_change,
)
from tests.streams.console.cases import HOSTILE


def joined(segments: object) -> str:
    return "".join(segment.text for segment in segments)  # type: ignore[attr-defined]


def test_every_character_that_differs_is_marked_on_its_side() -> None:
    found = compare("January 17, 2012", "January 11, 2012.")
    assert [s.text for s in found.quote if s.changed] == ["7"]
    assert [s.text for s in found.passage if s.changed] == ["1", "."]
    assert found.distance == 2


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_segments_are_the_texts_and_the_unmarked_ones_are_common(a: str, b: str) -> None:
    found = compare(a, b)
    assert (joined(found.quote), joined(found.passage)) == (a, b)
    same = ["".join(s.text for s in side if not s.changed) for side in (found.quote, found.passage)]
    assert same[0] == same[1]


def test_texts_that_are_too_long_are_shown_cut_and_not_compared() -> None:
    found = compare("a" * (MAX_SHOWN_CHARACTERS + 5), "b")
    assert found.distance is None
    assert found.quote[0].text.endswith("[…5 more characters]")
    assert not any(s.changed for s in found.quote + found.passage)


def span(start: int, end: int, text: str) -> Span:
    return Span(start=start, end=end, text=text[start:end])


def test_a_passage_stands_marked_in_its_surroundings_and_what_is_left_out_is_counted() -> None:
    text = "x" * 1000 + "PASSAGE" + "y" * 500
    assert excerpt(text, [span(1000, 1007, text)], 10) == [
        Piece(skipped=990),
        Piece("x" * 10),
        Piece("PASSAGE", marked=True),
        Piece("y" * 10),
        Piece(skipped=490),
    ]


def test_an_elided_quote_has_a_window_for_each_part() -> None:
    text = "AAA" + "x" * 1000 + "BBB"
    pieces = excerpt(text, [span(0, 3, text), span(1003, 1006, text)], 10)
    assert [p.text for p in pieces if p.marked] == ["AAA", "BBB"]
    assert [p.skipped for p in pieces if p.skipped] == [980]


@given(
    st.text(min_size=1, max_size=80),
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 20)), max_size=4),
    st.integers(0, 30),
)
def test_an_excerpt_is_the_text_in_order_without_its_gaps(
    text: str, places: list[tuple[int, int]], around: int
) -> None:
    spans = [span(s, min(len(text), s + n), text) for s, n in places if s < len(text)]
    pieces = excerpt(text, spans, around)
    position = 0
    for piece in pieces:
        assert text[position : position + len(piece.text)] == piece.text
        position += len(piece.text) + piece.skipped
    assert position == len(text)


def test_without_a_passage_the_beginning_is_shown() -> None:
    text = "abcd" + "x" * 100
    assert excerpt(text, [], 2) == [Piece("abcd"), Piece(skipped=100)]


def test_a_stub_is_shown_and_not_left_out() -> None:
    text = "AAA" + "x" * 35 + "BBB" + "y" * 25
    pieces = excerpt(text, [span(0, 3, text), span(38, 41, text)], 10)
    assert joined(pieces) == text
    assert not any(piece.skipped for piece in pieces)


def test_markup_is_escaped_and_what_cannot_be_seen_is_named() -> None:
    shown = str(visible(HOSTILE))
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;" in shown
    for name in ("U+202E", "U+202C", "U+0007", "U+001B"):
        assert f'<span class="sign">{name}</span>' in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", shown)


@given(st.text())
def test_nothing_a_document_holds_becomes_markup(text: str) -> None:
    shown = str(visible(text)).replace('<span class="sign">', "").replace("</span>", "")
    assert "<" not in shown
    assert ">" not in shown


# Unicode counts the fillers of Hangul among the letters, though nobody can see them.
FILLERS = "\u115f\u1160\u3164\uffa0"
ORDINARY = st.characters(categories=["L", "N", "P", "Zs"], exclude_characters=FILLERS)


@given(st.text(alphabet=ORDINARY.filter(str.isprintable)))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert html.unescape(str(visible(text))) == text


@pytest.mark.parametrize(
    ("changed", "shown"), [("\n", "↵\n"), ("  ", "␣␣"), ("\t", "⇥"), ("a b", "a b")]
)
def test_a_change_of_blanks_or_line_ends_can_be_seen(changed: str, shown: str) -> None:
    assert str(visible_change(changed)) == shown


def test_a_blank_that_only_looks_like_one_is_named() -> None:
    assert str(visible_change("\u00a0")) == '<span class="sign">U+00A0</span>'
    assert str(visible_change("\x1f")) == '<span class="sign">U+001F</span>'


def test_a_line_of_a_megabyte_is_cut_for_lists() -> None:
    assert len(cut("x" * 2**20, 60)) < 100
