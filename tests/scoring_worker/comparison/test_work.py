"""The work of a comparison grows no faster than the passage: counted in calls, never in time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Passage, Question
from safepassage.scoring_worker.text.segmentation import _LATIN, _LATIN_WORD, _WORD

SENTENCE = "On 4 May 2020 Ann Lee of Zeta GmbH paid EUR 1,234.50 for item AB-1234, not 5 kg. "
HOSTILE = {
    "names": "Ann Lee ",
    "figures": "1.234,5 ",
    "dates": "4/5/20 ",
    "periods": "4/5/20 - 4/5/21 - present ",
    "denials": "no not without ",
    "commas": ", and ",
    "brackets": "(A.B.) ",
}
VALUES = {
    "number": ("Total", "1,234.51"),
    "date": ("Date", "2020-05-05"),
    "end of a period": ("End Date", "4/5/20"),
    "name": ("Payer", "Ann Leigh Marie Smith"),
    "words": ("Colour", "bright red paint"),
    "identifier": ("Item Number", "AB-1235"),
    "list": ("Payers", ["Ann Lee", "Bo Fry"]),
    "object": ("Payment", {"payer": "Ann Lee", "amount": "1234.51"}),
    "none": ("Allergies", "none"),
    "truth": ("Paid", "yes"),
}
SHORT, LONG = 1_500, 6_000


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, in Python and below it."""
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("text", [SENTENCE, *HOSTILE.values()], ids=["sentence", *HOSTILE])
@pytest.mark.parametrize("kind", VALUES)
def test_four_times_the_passage_is_four_times_the_work(kind: str, text: str) -> None:
    entity_type, value = VALUES[kind]

    def asked(characters: int, last: str) -> int:
        quote = (text * (characters // len(text) + 1))[:characters]
        quote = f"{quote} {kind}{last}"  # of a passage of its own nothing is remembered
        question = Question(entity_type, value, Passage(quote, language="en"))
        return calls_of(lambda: compare(question))

    compare(Question(entity_type, value, Passage("1", language="en")))  # tables are built once
    asked(SHORT, "!")
    short, long = asked(SHORT, "?"), asked(LONG, "?")
    assert long <= 1.3 * LONG / SHORT * short


@given(st.text(alphabet=st.characters(max_codepoint=0x24F) | st.sampled_from("–—‘’“”„…€.,1aZ ")))
def test_words_in_latin_letters_are_the_same_by_either_pattern(text: str) -> None:
    if _LATIN.fullmatch(text):
        by_one = [match.span() for match in _LATIN_WORD.finditer(text)]
        assert by_one == [match.span() for match in _WORD.finditer(text)]
