"""The answers on overlapping chunks as one."""

from __future__ import annotations

from collections import Counter

from safepassage.agents.extraction.answers import Answer, Finding
from safepassage.agents.extraction.chunking import Chunk, merge

TEXT = "Rent: 900 a month, due on Monday. Deposit: 1800, paid. Rent: 900 again."
CHUNKS = [Chunk(0, TEXT[:48]), Chunk(34, TEXT[34:])]


def _merge(first: list[Finding], second: list[Finding]) -> list[Finding]:
    return [*merge(CHUNKS, [Answer(tuple(first)), Answer(tuple(second))]).findings]


def test_the_same_finding_of_two_chunks_is_one():
    deposit = Finding("Deposit", 1800, "Deposit: 1800")
    assert _merge([deposit], [deposit]) == [deposit]


def test_the_same_place_quoted_longer_is_the_same_finding():
    short, long = Finding("Deposit", 1800, "Deposit: 1800"), Finding("Deposit", 1800, "1800, paid")
    assert _merge([short], [long]) == [short]


def test_another_value_at_the_same_place_is_another_finding():
    one, other = Finding("Deposit", 1800, "Deposit: 1800"), Finding("Deposit", 180, "Deposit: 1800")
    assert _merge([one], [other]) == [one, other]
    text = Finding("Deposit", "1800", "Deposit: 1800")
    assert _merge([one], [text]) == [one, text]


def test_the_same_value_elsewhere_is_another_finding():
    here, there = Finding("Rent", 900, "Rent: 900 a month"), Finding("Rent", 900, "900 again")
    assert _merge([here], [there]) == [here, there]


def test_one_chunk_may_quote_a_place_twice():
    short, long = Finding("Deposit", 1800, "Deposit: 1800"), Finding("Deposit", 1800, "Deposit")
    assert _merge([short, long], [long, short]) == [short, long]


def test_contexts_that_stand_nowhere_are_one_only_where_they_are_equal():
    findings = [Finding("Rent", 900, context) for context in ("", "invented", "made up")]
    assert _merge(findings, findings[::-1]) == findings


def test_what_was_skipped_is_added_up():
    answers = [Answer((), Counter(no_value=1)), Answer((), Counter(no_value=2, unknown_type=1))]
    assert merge(CHUNKS, answers).skipped == {"no_value": 3, "unknown_type": 1}


def test_no_chunk_has_no_findings():
    assert merge([], []) == Answer(())
