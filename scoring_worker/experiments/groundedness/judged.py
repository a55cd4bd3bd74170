"""What a detector said of every answer, kept in a file: a run that was killed goes on.

Nothing of a text is in the file: rows are named by a digest of what was judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import Field

from schemas import stable_id
from schemas.base import Contract, Probability
from schemas.kept_lines import KeptLines
from scoring_worker.detectors.contract import Answer, Detector, Grounding

from .rows import AnswerRow

OnProgress = Callable[[str, int, int], None]

TOGETHER = 16
"""Answers that a method which asks an LLM is given at once: their calls overlap."""


class Judged(Contract):
    """One answer, judged. ``seconds`` of CPU, of this process and for one answer; ``llm_seconds``
    as its calls took when they were answered, one after another."""

    key: str = Field(min_length=1)
    score: Probability | None
    failure: str | None = None
    seconds: float = Field(ge=0)
    llm_seconds: float = Field(default=0, ge=0)
    cost_usd: float | None = None
    calls_llm: bool = False

    @property
    def latency(self) -> float:
        """Seconds that an answer waits for its judgement, on an idle core."""
        return self.seconds + self.llm_seconds


class JudgedAnswers:
    """Judgements by key, in a JSON-lines file that grows; in memory only without a path.

    Raises:
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._lines = KeptLines(path, Judged)
        self._known = {one.key: one for one in self._lines.read()}

    def judge(
        self, detector: Detector, rows: Sequence[AnswerRow], on_progress: OnProgress, *, llm: bool
    ) -> list[Judged]:
        """One judgement per row, in order; what is known already is not computed again.

        What failed is asked again: an endpoint that was down is up the next time.
        """
        keys = [key_of(detector, row.answer) for row in rows]
        missing = [
            at for at, key in enumerate(keys) if (known := self._known.get(key)) is None
            or (known.score is None and known.calls_llm)
        ]  # fmt: skip
        done = len(rows) - len(missing)
        on_progress(detector.name, done, len(rows))
        for start in range(0, len(missing), TOGETHER if llm else 1):
            chunk = missing[start : start + (TOGETHER if llm else 1)]
            answers = [rows[at].answer for at in chunk]
            for at, judged in zip(chunk, _timed(detector, answers, llm=llm), strict=True):
                self._keep(judged.model_copy(update={"key": keys[at]}))
            done += len(chunk)
            on_progress(detector.name, done, len(rows))
        return [self._known[key] for key in keys]

    def _keep(self, judged: Judged) -> None:
        self._known[judged.key] = judged
        self._lines.add([judged])


def key_of(detector: Detector, answer: Answer) -> str:
    """Changes with anything that could change the judgement."""
    return stable_id(
        "judged",
        detector.name,
        detector.revision,
        *answer.context,
        "answer",
        answer.response,
        answer.query,
        *answer.samples,
    )


def _timed(detector: Detector, answers: Sequence[Answer], *, llm: bool) -> Iterator[Judged]:
    began = time.process_time()
    groundings = detector.ground(answers)
    seconds = (time.process_time() - began) / len(answers)
    for grounding in groundings:
        yield _judged(grounding, seconds, llm=llm)


def _judged(grounding: Grounding, seconds: float, *, llm: bool) -> Judged:
    usage = grounding.usage
    return Judged(
        key="unknown",
        score=grounding.score,
        failure=grounding.failure,
        seconds=round(seconds, 6),
        llm_seconds=round(usage.milliseconds / 1_000, 6) if usage else 0,
        cost_usd=usage.cost_usd if usage else 0.0,
        calls_llm=llm,
    )
