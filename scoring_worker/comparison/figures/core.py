"""Digits or words that stand for a number, before what is beside them is read."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from .digits import Amount


class Core(NamedTuple):
    """Digits or words at ``start`` to ``end`` of the folded text and the numbers they may be."""

    start: int
    end: int
    amounts: tuple[Amount, ...]
    in_words: bool = False
    ordinal: bool = False
    almost: bool = False  # a word that may say a number
    second: Fraction | None = None  # of a pair such as 120/80
