"""Long documents in overlapping parts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.agents.extraction.chunking import split_document

texts = st.text(st.sampled_from("ab \n.\r\u0301…"), max_size=400)


@given(text=texts, size=st.integers(10, 120), share=st.floats(0, 0.4))
def test_parts_cover_the_text_and_share_at_least_the_overlap(text, size, share):
    overlap = int(size * share)
    chunks = list(split_document(text, size, overlap))
    assert chunks[0].start == 0
    assert chunks[-1].end == len(text)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert len(chunk.text) <= size
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert before.end - after.start >= overlap


@given(text=texts, size=st.integers(50, 120), data=st.data())
def test_every_quote_as_long_as_the_overlap_is_whole_in_one_part(text, size, data):
    overlap = size * 2 // 5
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + overlap)))
    chunks = split_document(text, size, overlap)
    assert any(chunk.start <= start and end <= chunk.end for chunk in chunks)


def test_a_short_text_is_one_part():
    assert [chunk.text for chunk in split_document("short", 10, 4)] == ["short"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("aaaaaaa.\n\nbbb\nbbb b", "aaaaaaa.\n\n"),
        ("aaaaaaaa\nb. b bbbbbb", "aaaaaaaa\n"),
        ("aaaaaa a. bb bbbbbbbb", "aaaaaa a. "),
        ("aaaaaaaaaa aabbbbbbbbb", "aaaaaaaaaa "),
        ("a" * 20, "a" * 12),
    ],
)
def test_a_part_ends_at_the_best_boundary(text, first):
    assert next(iter(split_document(text, 12 if len(text) == 20 else 14, 2))).text == first


def test_a_part_starts_at_a_word():
    chunks = list(split_document("lorem ipsum dolor sit amet " * 20, 100, 24))
    assert all(
        chunk.text.split()[0] in {"lorem", "ipsum", "dolor", "sit", "amet"} for chunk in chunks
    )


def test_an_overlap_that_would_hardly_advance_is_refused():
    with pytest.raises(ValueError, match="two fifths"):
        list(split_document("text", 10, 5))
