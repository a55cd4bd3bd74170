"""Layouts: code points to boxes, and what may not be one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from safepassage.schemas import Box, Document, Layout, Original, PageSize, Region

PAGE = PageSize(600, 800)


def layout(*regions: Region, pages: int = 1) -> Layout:
    return Layout(pages=(PAGE,) * pages, regions=regions)


def row(*words: tuple[int, int, float, float], page: int = 0, top: float = 100) -> Layout:
    return layout(*(Region(s, e, page, x1, top, x2, top + 10) for s, e, x1, x2 in words), pages=2)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    place, regions = 0, []
    for _ in range(draw(st.integers(0, 12))):
        start = place + draw(st.integers(0, 3))
        place = start + draw(st.integers(1, 5))
        left, top = draw(st.floats(0, 500)), draw(st.floats(0, 700))
        sure = draw(st.none() | st.floats(0, 1))
        page = draw(st.integers(0, 1))
        regions.append(Region(start, place, page, left, top, left + 40, top + 12, sure))
    return layout(*regions, pages=2)


@given(layouts(), st.integers(0, 60), st.integers(0, 60))
def test_regions_are_those_that_share_a_character(found: Layout, start: int, end: int) -> None:
    expected = [r for r in found.regions if r.start < end and r.end > start and start < end]
    assert list(found.within(start, end)) == expected
    for region in expected:
        assert any(
            box.page == region.page
            and box.left <= region.left
            and box.top <= region.top
            and box.right >= region.right
            and box.bottom >= region.bottom
            for box in found.boxes(start, end)
        )


@given(layouts(), st.integers(0, 60), st.integers(0, 60))
def test_lines_cover_what_words_cover(found: Layout, start: int, end: int) -> None:
    lines = found.by_lines()
    assert len(lines.regions) <= len(found.regions)
    covered = lines.boxes(start, end)
    for word in found.within(start, end):
        assert any(
            line.page == word.page
            and line.left <= word.left
            and line.right >= word.right
            and line.top <= word.top
            and line.bottom >= word.bottom
            for line in covered
        )


@given(layouts())
def test_a_layout_comes_back_as_it_went(found: Layout) -> None:
    text = "x" * 100
    document = Document(id="d", text=text, layout=found)
    assert Document.model_validate_json(document.to_json()) == document


def test_neighbours_on_a_line_share_a_box_and_far_cells_do_not() -> None:
    found = row((0, 4, 10, 30), (5, 9, 33, 60), (10, 14, 300, 340))
    assert found.boxes(0, 14) == (Box(0, 10, 100, 60, 110), Box(0, 300, 100, 340, 110))
    assert found.boxes(6, 7) == (Box(0, 33, 100, 60, 110),)
    assert found.boxes(4, 5) == ()


def test_words_that_run_down_the_page_share_a_box() -> None:
    found = layout(Region(0, 4, 0, 50, 10, 60, 60), Region(5, 9, 0, 50, 64, 60, 120))
    assert found.boxes(0, 9) == (Box(0, 50, 10, 60, 120),)


def test_short_words_on_a_line_that_runs_down_are_of_it() -> None:
    words = [(10, 60), (64, 72), (76, 84), (88, 140)]
    regions = [Region(3 * n, 3 * n + 2, 0, 50, a, 60, b) for n, (a, b) in enumerate(words)]
    assert layout(*regions).boxes(0, 11) == (Box(0, 50, 10, 60, 140),)


def test_a_narrow_word_below_a_line_is_not_of_it() -> None:
    found = layout(Region(0, 9, 0, 10, 100, 300, 110), Region(10, 11, 0, 12, 114, 15, 124))
    assert len(found.boxes(0, 11)) == 2


def test_the_lowest_confidence_counts() -> None:
    found = layout(
        Region(0, 4, 0, 1, 1, 2, 2, 0.9),
        Region(5, 9, 0, 3, 1, 4, 2, 0.4),
        Region(10, 12, 0, 5, 1, 6, 2),
    )
    assert found.confidence(0, 12) == 0.4
    assert found.confidence(10, 12) is None


@pytest.mark.parametrize(
    "regions",
    [
        [Region(0, 0, 0, 1, 1, 2, 2)],
        [Region(0, 5, 0, 1, 1, 2, 2), Region(4, 8, 0, 1, 1, 2, 2)],
        [Region(4, 8, 0, 1, 1, 2, 2), Region(0, 3, 0, 1, 1, 2, 2)],
        [Region(0, 5, 1, 1, 1, 2, 2)],
        [Region(0, 5, 0, 3, 1, 2, 2)],
        [Region(0, 5, 0, 1, 3, 2, 2)],
        [Region(0, 5, 0, float("nan"), 1, 2, 2)],
        [Region(0, 5, 0, 1, 1, float("inf"), 2)],
        [Region(0, 5, 0, -1, 1, 2, 2)],
        [Region(0, 5, 0, 1, 1, 2, 2, 1.5)],
    ],
)
def test_an_unsound_layout_is_refused(regions: list[Region]) -> None:
    with pytest.raises(ValidationError):
        layout(*regions)


def test_a_layout_of_a_longer_text_is_refused() -> None:
    with pytest.raises(ValidationError, match="longer text"):
        Document(id="d", text="abc", layout=layout(Region(0, 4, 0, 1, 1, 2, 2)))


def test_a_document_without_layout_is_written_as_it_always_was() -> None:
    document = Document(id="d", text="abc")
    assert document.to_json() == b'{"version":1,"id":"d","text":"abc","meta":null}'


def test_the_reference_is_of_the_text_alone() -> None:
    plain = Document(id="d", text="abcd")
    original = Original(uri="a.pdf", digest="0" * 64, media_type="application/pdf")
    placed = Document(
        id="d", text="abcd", layout=layout(Region(0, 4, 0, 1, 1, 2, 2)), original=original
    )
    assert placed.ref() == plain.ref()


@pytest.mark.parametrize(
    "change", [{"uri": ""}, {"uri": "x" * 3000}, {"digest": "00"}, {"media_type": "<b>"}]
)
def test_an_unsound_original_is_refused(change: dict[str, Any]) -> None:
    fields = {"uri": "a.pdf", "digest": "0" * 64, "media_type": "application/pdf"}
    with pytest.raises(ValidationError):
        Original(**(fields | change))
