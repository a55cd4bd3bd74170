"""Every language's file has sections that something reads, and phrases in them."""

from typing import get_args

import pytest

from safepassage.scoring_worker.comparison.dates.vague_words import Role
from safepassage.scoring_worker.comparison.figures.bounds import CLAIMED
from safepassage.scoring_worker.comparison.figures.figure import Bound
from safepassage.scoring_worker.comparison.figures.spelling_tables import table_of
from safepassage.scoring_worker.comparison.languages import KINDS, sections_by_language

BOUNDS = {f"{place} {bound}" for place in ("before", "after") for bound in get_args(Bound)}
READ = {"date": set(get_args(Role)), "bound": BOUNDS | {"not"}, "noun": {"article", "preposition"}}


@pytest.mark.parametrize("kind", READ)
def test_no_section_is_read_by_nothing(kind: str):
    for code, own in sections_by_language(kind).items():
        assert own.keys() <= READ[kind], code


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_no_section_is_empty(kind: str | None):
    for code, own in sections_by_language(kind).items():
        assert all(own.values()), code


def test_words_for_numbers_are_those_of_a_number():
    for code, own in sections_by_language("number").items():
        table = table_of(code)
        assert table is not None
        for number, words in own.items():
            top, _, bottom = number.partition("/")
            assert {table.almost[word] for word in words} == {(int(top), int(bottom or 1))}


def test_a_language_with_bounds_says_how_each_begins():
    begun = {name for name in BOUNDS if name.startswith("before")} - {"before none"}
    for code in CLAIMED:
        assert begun <= sections_by_language("bound")[code].keys(), code
