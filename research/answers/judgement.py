"""A detector over a set, a block at a time; what it said is kept, so that a run goes on."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from research.kept_lines import KeptLines
from safepassage.schemas import stable_id
from safepassage.schemas.base import Contract, Probability
from safepassage.scoring_worker.detectors.contract import Answer, Detector
from safepassage.scoring_worker.evaluation.sources import OnProgress

from .sets import AnswersOfSource

BLOCK = 32


class KeptClaim(Contract):
    """A claim's place in the response, and its score; None where it has none."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    score: Probability | None


class KeptJudgement(Contract):
    """What a detector said of the answer with this digest.

    ``seconds`` and ``cpu_seconds`` are its share of a block, on the clock and of this process;
    ``llm_seconds`` are those that its calls took when they were answered, one after another.
    ``cost_usd`` is None where a call has no price.
    """

    digest: str
    score: Probability | None
    failure: str | None = None
    claims: tuple[KeptClaim, ...] = ()
    seconds: float = Field(ge=0)
    cpu_seconds: float = Field(ge=0)
    llm_seconds: float = Field(default=0, ge=0)
    cost_usd: float | None = None
    calls_llm: bool = False

    @property
    def latency(self) -> float:
        """Seconds that an answer waits for its judgement, on an idle core."""
        return self.cpu_seconds + self.llm_seconds

    @property
    def stands(self) -> bool:
        """Whether it need not be asked again: an endpoint that was down is up the next time."""
        return self.score is not None or not self.calls_llm


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
    cases: AnswersOfSource,
    detector: Detector,
    keep: Path | None,
    on_progress: OnProgress,
    *,
    calls_llm: bool = False,
    block: int = BLOCK,
) -> JudgedSet:
    """Judge what was not judged yet. ``keep`` is a folder for what was, by detector and revision.

    Args:
        calls_llm: whether the detector asks an LLM; what failed is then asked again.
        block: answers that the detector is given at once.

    Raises:
        RuntimeError: the detector gave another number of groundings than it got answers.
    """
    kept = KeptLines(keep and keep / _file_name(detector), KeptJudgement)
    known = {judgement.digest: judgement for judgement in kept.read() if judgement.stands}
    wanted = [(digest_of(case.answer), case.answer) for case in cases.cases]
    missing = list({digest: answer for digest, answer in wanted if digest not in known}.items())
    stage = f"{detector.name} on {cases.name}"
    before = len(wanted) - len(missing)
    for start in range(0, len(missing), block):
        on_progress(stage, before + start, len(wanted))
        made = _judge_block(detector, missing[start : start + block], calls_llm=calls_llm)
        known |= {judgement.digest: judgement for judgement in made}
        kept.add(made)
    on_progress(stage, len(wanted), len(wanted))
    return JudgedSet(cases, detector.name, tuple([known[digest] for digest, _ in wanted]))


def digest_of(answer: Answer) -> str:
    """Hex digits of everything that a detector is shown."""
    passages = (str(len(answer.context)), *answer.context)
    return stable_id("answer", *passages, answer.response, answer.query, *answer.samples)


def _file_name(detector: Detector) -> str:
    """A name for people, and a digest of all that tells two detectors apart."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", detector.name)[:60]
    return f"{name}-{stable_id('judged', detector.name, detector.revision)}.jsonl"


def _judge_block(
    detector: Detector, block: Sequence[tuple[str, Answer]], *, calls_llm: bool
) -> list[KeptJudgement]:
    started, cpu_started = time.perf_counter(), time.process_time()
    found = detector.ground([answer for _, answer in block])
    cpu_seconds = (time.process_time() - cpu_started) / len(block)
    seconds = (time.perf_counter() - started) / len(block)
    if len(found) != len(block):
        raise RuntimeError(f"{detector.name} gave {len(found)} of {len(block)} groundings")
    return [
        KeptJudgement(
            digest=digest,
            score=one.score,
            failure=one.failure,
            claims=tuple([KeptClaim(start=c.start, end=c.end, score=c.score) for c in one.claims]),
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            llm_seconds=one.usage.milliseconds / 1_000 if one.usage else 0,
            cost_usd=one.usage.cost_usd if one.usage else 0.0,
            calls_llm=calls_llm,
        )
        for (digest, _), one in zip(block, found, strict=True)
    ]
