"""What a detector is asked, what it answers, and what it declares of itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from safepassage.schemas.evidence import ConsultedPassage, Evidence
from safepassage.schemas.extraction import Usage

if TYPE_CHECKING:
    from safepassage.llm_calls.settings import GraderSettings
    from safepassage.scoring_worker.encoders.devices import DeviceChoice, PrecisionChoice
    from safepassage.scoring_worker.scorer import Scorer

Need = Literal["model", "hub", "llm", "samples", "extra"]
"""model: a folder that somebody trained; hub: weights from the model hub; llm: an endpoint;
samples: further answers to the same query; extra: a package that is not installed by default."""

Judged = Literal["extraction", "claim", "response"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One response to be judged against its passages.

    ``context`` are the retrieved passages in their order. ``samples`` are further generations for
    the same ``query``, for detectors that compare a model with itself.
    """

    context: tuple[str, ...]
    response: str
    query: str = ""
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimGrounding:
    """One claim of a response: ``response[start:end]``, and how far the context supports it.

    Exactly one of ``score`` in [0, 1] and ``failure`` is set. ``passages`` were consulted. Raises
    `ValueError` where both or neither are set, or the score is no probability."""

    start: int
    end: int
    score: float | None
    failure: str | None = None
    passages: tuple[ConsultedPassage, ...] = ()

    def __post_init__(self) -> None:
        _check(self.score, self.failure)


@dataclass(frozen=True, slots=True)
class Grounding:
    """What a detector says of one answer.

    ``score`` is in [0, 1], 1 is grounded. Exactly one of ``score`` and ``failure`` is set: with a
    failure the answer is undetermined, and never accepted. ``claims`` are empty for a detector that
    judges whole responses only. Places in ``evidence.unsupported`` are of the response. Raises
    `ValueError` where both or neither are set, or the score is no probability."""

    score: float | None
    failure: str | None = None
    claims: tuple[ClaimGrounding, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    usage: Usage | None = None
    """What calls to an LLM took; None where none was asked."""

    def __post_init__(self) -> None:
        _check(self.score, self.failure)

    @classmethod
    def undetermined(cls, failure: str, claims: tuple[ClaimGrounding, ...] = ()) -> Grounding:
        """An answer that could not be judged, and why: a word for people, no text of others."""
        return cls(score=None, failure=failure, claims=claims)


def _check(score: float | None, failure: str | None) -> None:
    if (score is None) == (failure is None):
        raise ValueError("either a score or a failure")
    if score is not None and not (math.isfinite(score) and 0.0 <= score <= 1.0):
        raise ValueError("a score is in [0, 1]")


@runtime_checkable
class Detector(Protocol):
    """Judges batches of answers.

    ``name`` is what `load_detector` was asked for; ``revision`` changes with anything that can
    change a score. `ground` returns one `Grounding` per answer, in order; an answer that cannot
    be judged gets a failure, and the others are not affected. It blocks: callers run it off the
    event loop. It raises only where the detector as a whole is broken.
    """

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class DetectorSettings:
    """What a detector may be told when it is loaded; each takes what it has use for.

    ``scorer`` judges pairs for detectors that rest on one (a name or a folder); ``model`` is the
    folder or hub id of a detector's own weights, None for those that ship. ``llm`` is where and
    how an LLM is asked, None for the environment's. ``loaded`` is that scorer where it is loaded
    already, and the caller's to close.
    """

    scorer: str = "default"
    model: str | None = None
    device: DeviceChoice = "auto"
    precision: PrecisionChoice = "auto"
    threads: int | None = None
    llm: GraderSettings | None = None
    loaded: Scorer | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a detector says of itself before it is loaded.

    ``paper`` names its source, with the section or table; ``cost`` and ``latency`` are one line
    each, for people who choose. ``threshold`` is where a claim counts as supported when the
    detector judges claims, unless the loaded one has a ``threshold`` of its own. ``load`` may take
    seconds and may raise `ModelError`, or ImportError where a package is missing.
    """

    name: str
    summary: str
    paper: str
    needs: frozenset[Need]
    judges: frozenset[Judged]
    cost: str
    latency: str
    load: Callable[[DetectorSettings], Detector]
    threshold: float = 0.5

    @property
    def calls_llm(self) -> bool:
        """Whether it asks an LLM: what failed may succeed when it is asked again."""
        return "llm" in self.needs
