"""What one run learns and how it is judged, in a process of its own: niced, killed with its parent,
and gone on with by the next one.

A folder holds all of it: ``task.json``, ``reviews.jsonl`` (with what the reviews quote: private to
this user), ``scorer`` (the candidate) and, once it is done, ``outcome.json``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from safepassage.schemas import Review
from safepassage.schemas.base import Contract, Probability
from safepassage.schemas.jsonl import BadLine, read_jsonl
from safepassage.scoring_worker.laboratory.evaluation.promotion_bounds import (
    Bounds,
    PromotionResult,
)
from safepassage.scoring_worker.laboratory.evaluation.splits import held_out
from safepassage.streams.labels.from_reviews import Label, labels, reviewed_cases

TASK, REVIEWS, OUTCOME, SCORER = "task.json", "reviews.jsonl", "outcome.json", "scorer"
HELD_SALT = "learning"
"""A document that judges once judges always: no candidate has ever learnt from it."""


class Task(Contract):
    """``base`` is where the reader starts, ``live`` (with its revision) what decides now. Documents
    of about the share ``held`` judge the candidate, and teach it nothing."""

    base: str
    live: str
    live_revision: str | None
    bounds: Bounds
    held: Probability
    packs: tuple[str, ...] = ()


class Outcome(Contract):
    """``result`` is None where the candidate could not be held against the live scorer; then
    ``problem`` says why. ``learnt`` tells of each part whether it learnt."""

    revision: str | None = None
    learnt: dict[str, str] = Field(default_factory=dict)
    result: PromotionResult | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """The labels of standing reviews: those to learn from, and those that judge."""

    taught: tuple[Label, ...]
    held: tuple[Label, ...]

    @classmethod
    def of(cls, reviews: Iterable[Review], share: float) -> Decided:
        """Split by document. Quotes that were not found teach nothing: no scorer sees them."""
        found = [label for case in reviewed_cases(reviews) for label in labels(case) if label.asked]
        apart = [held_out(label.verdict.doc_id, share, HELD_SALT) for label in found]
        return cls(
            tuple(label for label, out in zip(found, apart, strict=True) if not out),
            tuple(label for label, out in zip(found, apart, strict=True) if out),
        )

    @property
    def counts(self) -> tuple[int, int]:
        """How many are supported, and how many are not."""
        every = (*self.taught, *self.held)
        supported = sum(label.label for label in every)
        return supported, len(every) - supported

    def wanted(self, each: int) -> dict[str, int]:
        """How many more labels of which class are wanted, to learn from and to judge by, for
        ``each`` on both sides; empty where there are enough."""
        found = {}
        for side, own in (("learn from", self.taught), ("judge by", self.held)):
            supported = sum(label.label for label in own)
            counts = (("supported", supported), ("unsupported", len(own) - supported))
            found |= {f"{name} to {side}": each - count for name, count in counts if count < each}
        return found


def write_task(folder: Path, task: Task, reviews: Iterable[Review]) -> None:
    """Prepare the folder of a run; it is complete once ``task.json`` is there."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = [review.to_json() for review in reviews]
    path = folder / REVIEWS
    path.touch(mode=0o600)
    path.write_bytes(b"\n".join(lines) + b"\n")
    _whole(folder / TASK, task.model_dump_json())


def read_reviews_of(folder: Path) -> list[Review]:
    """The reviews that a run in ``folder`` rests on."""
    rows = read_jsonl(folder / REVIEWS, Review)
    return [row for row in rows if not isinstance(row, BadLine)]


def read_outcome(folder: Path) -> Outcome | None:
    """What came of it; None before it is done."""
    path = folder / OUTCOME
    return Outcome.model_validate_json(path.read_bytes()) if path.exists() else None


def carry_out(folder: Path) -> Outcome:
    """Train the candidate and hold it against the live scorer; goes on where it was stopped."""
    from safepassage.scoring_worker import load_scorer  # noqa: PLC0415 (the scorers' libraries)
    from safepassage.scoring_worker.laboratory.training import (  # noqa: PLC0415
        Recipe,
        TrainingLabels,
        train,
    )
    from safepassage.scoring_worker.manifest import MANIFEST_NAME, ScorerManifest  # noqa: PLC0415
    from safepassage.streams.release.live_scorer import load_released  # noqa: PLC0415
    from safepassage.streams.release.promotion import case_of, compare  # noqa: PLC0415

    if done := read_outcome(folder):
        return done
    task = Task.model_validate_json((folder / TASK).read_bytes())
    decided = Decided.of(read_reviews_of(folder), task.held)
    scorer = folder / SCORER
    outcome = Outcome()
    try:
        if not (scorer / MANIFEST_NAME).exists():
            gold = [pair for label in decided.taught if (pair := label.pair) is not None]
            taught = TrainingLabels(gold=gold, sources=(f"{len(gold)} reviews",))
            train(task.base, taught, scorer, Recipe(name="learnt"), resume=True)
        said = ScorerManifest.load(scorer).metrics.get("learnt")
        learnt = {k: str(v) for k, v in said.items()} if isinstance(said, dict) else {}
        outcome = Outcome(learnt=learnt)
        live = load_released(load_scorer, task.live, task.live_revision)
        candidate = load_released(load_scorer, str(scorer), None)
        outcome = outcome.model_copy(update={"revision": candidate.revision})
        cases = [case_of(label) for label in decided.held]
        result = compare(cases, live, candidate, task.bounds)
        outcome = outcome.model_copy(update={"result": result})
    except (ValueError, OSError) as error:  # what we say of labels, models and releases
        outcome = outcome.model_copy(update={"problem": str(error)[:500]})
    _whole(folder / OUTCOME, outcome.model_dump_json())
    return outcome


def _whole(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def told(result: PromotionResult | None) -> dict[str, object] | None:
    """A result as an event carries it."""
    return None if result is None else json.loads(result.model_dump_json())
