"""A detector over a set, a block at a time; what it said is kept, so that a run goes on."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from schemas.base import Contract, Probability
from schemas.kept_lines import KeptLines
from scoring_worker.detectors.contract import Answer, Detector
from scoring_worker.evaluation.sources import OnProgress

from .sets import AnswersOfSource

BLOCK = 32


class KeptClaim(Contract):
    """A claim's place in the response, and its score; None where it has none."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    score: Probability | None


class KeptJudgement(Contract):
    """What a detector said of the answer with this digest; ``seconds`` is its share of a block."""

    digest: str
    score: Probability | None
    failure: str | None = None
    claims: tuple[KeptClaim, ...] = ()
    seconds: float = Field(ge=0)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """The judgements of a set's cases, in their order."""

    cases: AnswersOfSource
    detector: str
    judgements: tuple[KeptJudgement, ...]

    @property
    def sentences_per_second(self) -> float | None:
        """Claims in a second, of the calls that were made whenever it was; None without any."""
        seconds = sum(judgement.seconds for judgement in self.judgements)
        claims = sum(max(1, len(judgement.claims)) for judgement in self.judgements)
        return claims / seconds if seconds else None


def judge_set(
    cases: AnswersOfSource, detector: Detector, keep: Path | None, on_progress: OnProgress
) -> JudgedSet:
    """Judge what was not judged yet. ``keep`` is a folder for what was, by detector and revision.

    Raises:
        RuntimeError: the detector gave another number of groundings than it got answers.
    """
    path = None if keep is None else keep / f"{detector.name}-{detector.revision[:16]}.jsonl"
    kept = KeptLines(path, KeptJudgement)
    known = {judgement.digest: judgement for judgement in kept.read()}
    wanted = [(digest_of(case.answer), case.answer) for case in cases.cases]
    missing = list({digest: answer for digest, answer in wanted if digest not in known}.items())
    stage = f"{detector.name} on {cases.name}"
    before = len(wanted) - len(missing)
    for start in range(0, len(missing), BLOCK):
        on_progress(stage, before + start, len(wanted))
        made = _judge_block(detector, missing[start : start + BLOCK])
        known |= {judgement.digest: judgement for judgement in made}
        kept.add(made)
    on_progress(stage, len(wanted), len(wanted))
    return JudgedSet(cases, detector.name, tuple([known[digest] for digest, _ in wanted]))


def digest_of(answer: Answer) -> str:
    """Hex digits of everything that a detector is shown."""
    parts = (answer.query, answer.response, *answer.context, "samples", *answer.samples)
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:32]


def _judge_block(detector: Detector, block: Sequence[tuple[str, Answer]]) -> list[KeptJudgement]:
    started = time.perf_counter()
    found = detector.ground([answer for _, answer in block])
    if len(found) != len(block):
        raise RuntimeError(f"{detector.name} gave {len(found)} of {len(block)} groundings")
    share = (time.perf_counter() - started) / len(block)
    return [
        KeptJudgement(
            digest=digest,
            score=one.score,
            failure=one.failure,
            claims=tuple([KeptClaim(start=c.start, end=c.end, score=c.score) for c in one.claims]),
            seconds=share,
        )
        for (digest, _), one in zip(block, found, strict=True)
    ]
