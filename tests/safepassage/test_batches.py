"""Callers share the scorer's calls, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError

import pytest

from safepassage.batches import MAX_PAIRS, SharedBatches
from safepassage.schemas import Assessment
from safepassage.scoring_worker import Pair

from .scorers import WordScorer


def pairs(*values: str) -> list[Pair]:
    return [Pair(premise="a b c", hypothesis=f"T: {v}", entity_type="T", value=v) for v in values]


class Gate:
    """Holds the first call of a scorer until it is opened."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()

    def __call__(self, _: Sequence[Pair]) -> None:
        self.entered.set()
        assert self.opened.wait(20)


def test_whoever_comes_while_the_scorer_works_travels_in_one_call():
    gate = Gate()
    scorer = WordScorer(before=gate)
    batches = SharedBatches(scorer)
    first = batches.submit(pairs("a"))
    assert gate.entered.wait(20)
    later = [batches.submit(pairs(value)) for value in ("b", "x", "c")]
    assert batches.seconds_waiting > 0
    gate.opened.set()
    scores = [future.result(20)[0].score for future in (first, *later)]
    assert scores == [0.9, 0.9, 0.1, 0.9]
    assert [len(call) for call in scorer.calls] == [1, 3]
    assert batches.seconds_waiting == 0
    batches.close()


def test_a_call_is_bounded_and_a_long_question_is_cut():
    gate = Gate()
    sizes: list[int] = []
    batches = SharedBatches(WordScorer(before=gate), observe=sizes.append)
    answers = [batches.submit(pairs("a"))]
    assert gate.entered.wait(20)
    answers += [batches.submit(pairs(*["a"] * n)) for n in (MAX_PAIRS - 1, 2, MAX_PAIRS + 1)]
    gate.opened.set()
    assert [len(a.result(20)) for a in answers] == [1, MAX_PAIRS - 1, 2, MAX_PAIRS + 1]
    assert sizes == [1, MAX_PAIRS - 1, 2, MAX_PAIRS, 1]
    batches.close()


def test_ones_poison_costs_no_others_answer():
    def poisoned(asked: Sequence[Pair]) -> None:
        if any(pair.value == "poison" for pair in asked):
            raise MemoryError("too much")

    gate = Gate()
    scorer = WordScorer(before=gate)
    batches = SharedBatches(scorer)
    blocking = batches.submit(pairs("a"))
    assert gate.entered.wait(20)
    scorer.before = poisoned
    answers = [batches.submit(pairs(value)) for value in ("b", "poison", "c")]
    gate.opened.set()
    assert blocking.result(20)
    assert answers[0].result(20)[0].score == answers[2].result(20)[0].score == 0.9
    with pytest.raises(MemoryError):
        answers[1].result(20)
    assert batches.assess(pairs("a"))[0].score == 0.9
    batches.close()


def test_whose_caller_has_left_is_not_asked_about():
    gate = Gate()
    scorer = WordScorer(before=gate)
    batches = SharedBatches(scorer)
    first = batches.submit(pairs("a"))
    assert gate.entered.wait(20)
    gone, stays = batches.submit(pairs("b")), batches.submit(pairs("c"))
    assert gone.cancel()
    gate.opened.set()
    assert first.result(20)
    assert stays.result(20)
    assert [[p.value for p in call] for call in scorer.calls] == [["a"], ["c"]]
    batches.close()


def test_too_few_answers_are_no_answer():
    class Short(WordScorer):
        def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
            return super().assess(pairs)[1:]

    batches = SharedBatches(Short())
    with pytest.raises(RuntimeError, match="0 of 1"):
        batches.assess(pairs("a"))
    batches.close()


def test_closing_lets_nobody_wait_for_ever():
    gate = Gate()
    batches = SharedBatches(WordScorer(before=gate))
    at_work = batches.submit(pairs("a"))
    assert gate.entered.wait(20)
    waiting = batches.submit(pairs("b"))
    closing = threading.Thread(target=batches.close)
    closing.start()
    with pytest.raises(CancelledError):
        waiting.result(20)
    gate.opened.set()
    closing.join(20)
    assert at_work.result(20)
    with pytest.raises(RuntimeError):
        batches.submit(pairs("c"))
