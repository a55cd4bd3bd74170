"""Boxes fitted to the ink, on pictures drawn by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from safepassage.agents.intake.ink_boxes import Line, fitted
from safepassage.agents.intake.page_words import Rectangle, Word

ROUGH = Rectangle(10, 4, 100, 34)
TRUE = [Rectangle(15, 12, 40, 26), Rectangle(46, 14, 52, 26), Rectangle(58, 12, 90, 28)]


def picture(*inked: Rectangle, paper: int = 240, ink: int = 20) -> np.ndarray:
    grey = np.full((40, 110), paper, dtype=float)
    for left, top, right, bottom in inked:
        # Hatched, as letters are: no row and no column of a word is full of ink.
        grey[int(top) : int(bottom) : 2, int(left) : int(right)] = ink
        grey[int(top) : int(bottom), int(left) : int(right) : 3] = ink
        grey[int(bottom) - 1, int(left)] = grey[int(top), int(right) - 1] = ink
    return grey


def words(*edges: tuple[float, float]) -> list[Word]:
    return [Word(f"w{n}", Rectangle(x1, 4, x2, 34), 0.9) for n, (x1, x2) in enumerate(edges)]


def boxes(found: list[Word]) -> list[tuple[float, ...]]:
    return [tuple(word.box) for word in found]


def near(found: list[Word]) -> bool:
    pairs = zip(boxes(found), TRUE, strict=True)
    return all(abs(a - b) <= 1 for one, true in pairs for a, b in zip(one, true, strict=True))


@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6))
def test_rough_boxes_become_those_of_the_ink(shifts: list[float]) -> None:
    edges = [
        (box.left + shifts[2 * n], box.right + shifts[2 * n + 1]) for n, box in enumerate(TRUE)
    ]
    assert near(fitted(Line(ROUGH, words(*edges)), picture(*TRUE)))


def test_tips_of_the_lines_above_and_below_are_not_of_the_line() -> None:
    tips = (Rectangle(20, 2, 24, 7), Rectangle(60, 31, 66, 38))
    exact = words(*((box.left, box.right) for box in TRUE))
    assert near(fitted(Line(ROUGH, exact), picture(*TRUE, *tips)))


def test_a_rule_of_a_table_is_no_letter() -> None:
    grey = picture(*TRUE)
    grey[31:33, :] = 20
    exact = words(*((box.left, box.right) for box in TRUE))
    assert near(fitted(Line(ROUGH, exact), grey))


def test_white_on_black_is_ink_too() -> None:
    exact = words(*((box.left, box.right) for box in TRUE))
    assert near(fitted(Line(ROUGH, exact), picture(*TRUE, paper=10, ink=250)))


def test_without_contrast_the_boxes_stay() -> None:
    rough = words((10, 40), (45, 60))
    assert fitted(Line(ROUGH, rough), picture(*TRUE, ink=235)) == rough


def test_a_line_beside_the_picture_is_left_alone() -> None:
    outside = Line(Rectangle(200, 200, 300, 220), words((200, 300)))
    assert boxes(fitted(outside, picture(*TRUE))) == [(200, 4, 300, 34)]
