"""Sentences end once: nothing that follows changes one that has ended."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from safepassage.agents.claims import sentences_so_far, split_claims
from safepassage.passages.sentence_splitting import sentences
from safepassage.schemas import Claim, Part, Response

RAGTRUTH = Path(__file__).parents[4] / "shared" / "data" / "groundedness" / "ragtruth_qa.jsonl.gz"

MARKS = [
    ".",
    '."',
    "?) ",
    "!",
    "…",
    ". . . ",
    "。",
    "\n\n",
    "\n- ",
    "\n12) ",
    ":\n",
    " ",
    "🙂",
    "'s",
]
WORDS = [
    "It rained. ",
    "900.50 euros",
    "Dr. ",
    "Smith v. Jones ",
    "U.S. ",
    "no. 5",
    "1. ",
    "e.g. a",
]
PIECES = [*MARKS, *WORDS, "He did not. ", "He did. ", "Über"]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=60)


def parts(text: str, cuts: list[float]) -> list[Response]:
    """``text`` as its sender would send it, cut at shares of its length."""
    ends = sorted({int(cut * len(text)) for cut in cuts} | {len(text)})
    made, since = [], 0
    for end in ends:
        part = Part(since=since, final=end == len(text))
        made.append(Response(id="r", context="It rained.", response=text[:end], part=part))
        since = end
    return made


def brought(responses: list[Response]) -> list[Claim]:
    """The claims of all, with the reference as it would be for an answer that came whole."""
    whole = Response(id="r", context="It rained.", response="")
    return [claim for each in responses for claim in split_claims(each, whole.ref())]


@given(text=texts, cut=st.floats(0, 1))
@example(text="Two points.\n- one", cut=0.7)
@example(text="He met Dr. Roe. Then", cut=0.5)
def test_what_is_certain_of_a_beginning_is_the_beginning_of_the_whole(text, cut):
    whole = list(sentences(text))
    certain = list(sentences(text[: int(cut * len(text))], complete=False))
    assert certain == whole[: len(certain)]


@given(text=texts, cuts=st.lists(st.floats(0, 1), max_size=6))
def test_an_answer_in_parts_brings_the_claims_of_the_whole_each_once_with_its_rivals(text, cuts):
    assert brought(parts(text, cuts)) == brought(
        [Response(id="r", context="It rained.", response=text)]
    )


@given(text=texts, cuts=st.lists(st.floats(0, 1), max_size=6))
def test_the_last_part_knows_all_the_claims_that_were_brought(text, cuts):
    sent = parts(text, cuts)
    reference = Response(id="r", context="It rained.", response="").ref()
    assert sentences_so_far(sent[-1], reference) == brought(sent)


@given(texts)
def test_a_part_that_comes_again_brings_the_same_again(text):
    for part in parts(text, [0.4, 0.8]):
        assert split_claims(part, part.ref()) == split_claims(part, part.ref())


def test_a_sentence_is_judged_as_soon_as_one_word_behind_it_is_whole():
    assert list(sentences("It rained. The", complete=False)) == []
    assert list(sentences("It rained. The ", complete=False)) == [(0, 10)]
    assert list(sentences("He met Dr. Roe ", complete=False)) == []
    assert list(sentences("- rent\n- deposit ", complete=False)) == [(0, 6)]


def test_a_table_without_an_end_is_read_once_and_not_at_each_line():
    rows = "".join(f"row {number} of the table\n" for number in range(20_000))
    assert len(list(sentences(rows))) == 1


@pytest.mark.skipif(not RAGTRUTH.exists(), reason="../shared/data/groundedness is absent")
def test_answers_of_real_systems_word_by_word():
    with gzip.open(RAGTRUTH, "rt") as rows:
        answers = [json.loads(row)["response"] for row in rows][:12]
    for answer in answers:
        words = [at / len(answer) for at, sign in enumerate(answer) if sign == " "]
        assert brought(parts(answer, words)) == brought(
            [Response(id="r", context="It rained.", response=answer)]
        )
