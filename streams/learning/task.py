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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from safepassage.schemas import Review, stable_id
from safepassage.schemas.base import Contract, Probability
from safepassage.schemas.jsonl import BadLine, read_jsonl
from safepassage.schemas.reviews_that_count import case_id
from safepassage.scoring_worker.manifest import MANIFEST_NAME, ModelError, ScorerManifest
from safepassage.scoring_worker.scorer_spec import ScorerSpec

from ..labels.from_reviews import Label, judges, labels, reviewed_cases, wanted
from ..release.promotion_bounds import Bounds, PromotionResult
from ..release.releases import ReleaseRefused
from ..runtime.errors import OperatorError
from .events import ProgressFile
from .silver import graded

if TYPE_CHECKING:
    from safepassage.scoring_worker.training import TrainingLabels

TASK, REVIEWS, OUTCOME, SCORER = "task.json", "reviews.jsonl", "outcome.json", "scorer"


class Task(Contract):
    """``base`` is where the reader starts, ``live`` (with its revision) what decides now,
    ``behind`` what is behind a scorer's name for claims: the candidate keeps it. Documents
    of about the share ``held`` judge the candidate, and teach it nothing. With ``silver`` a sample
    lies in the folder, for the grader (see `silver`)."""

    base: str
    behind: str = ""
    live: str
    live_revision: str | None
    bounds: Bounds
    held: Probability
    silver: bool = False
    packs: tuple[str, ...] = ()


class Outcome(Contract):
    """``result`` is None where the candidate could not be held against the live scorer; then
    ``problem`` says why. ``learnt`` tells of each part whether it learnt. ``taught_by`` and
    ``judged_by`` name the labels without their text (see `Decided.named`)."""

    revision: str | None = None
    learnt: dict[str, str] = Field(default_factory=dict)
    result: PromotionResult | None = None
    problem: str = ""
    taught_by: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """The labels of standing reviews: those to learn from, and those that judge. ``unfound`` counts
    those whose quote was not found: no scorer sees them, so that they do neither."""

    taught: tuple[Label, ...]
    held: tuple[Label, ...]
    unfound: int = 0

    @classmethod
    def of(cls, reviews: Iterable[Review], share: float) -> Decided:
        every = [label for case in reviewed_cases(reviews) for label in labels(case)]
        found = [label for label in every if label.asked]
        apart = [judges(label.verdict.doc_id, share) for label in found]
        return cls(
            tuple(label for label, out in zip(found, apart, strict=True) if not out),
            tuple(label for label, out in zip(found, apart, strict=True) if out),
            len(every) - len(found),
        )

    def __str__(self) -> str:
        every = len(self.taught) + len(self.held) + self.unfound
        said = f"{every} labels: {len(self.taught)} teach, {len(self.held)} judge the candidate"
        return f"{said}, {self.unfound} have a quote that was not found" if self.unfound else said

    @staticmethod
    def named(labels: Iterable[Label]) -> set[str]:
        """Names of ``labels`` that differ where the value or the decision does."""
        return {
            stable_id("label", case_id(one.verdict), json.dumps(one.value), str(one.label))
            for one in labels
        }

    @property
    def counts(self) -> tuple[int, int]:
        every = (*self.taught, *self.held)
        supported = sum(label.label for label in every)
        return supported, len(every) - supported

    def wanted(self, share: float, each: int) -> str:
        """How many labels of which class are missing to ``each`` on both sides; "" for none."""
        every = (*self.taught, *self.held)
        return ", ".join(
            wanted([(one.verdict.doc_id, one.label == 1) for one in every], share, each)
        )


def write_task(folder: Path, task: Task, reviews: Iterable[Review]) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write_reviews(folder, reviews)
    _whole(folder / TASK, task.model_dump_json())


def read_task(folder: Path) -> Task:
    return Task.model_validate_json((folder / TASK).read_bytes())


def judge_again(folder: Path, reviews: Iterable[Review]) -> None:
    """Let the next `carry_out` judge the candidate in ``folder`` by ``reviews``."""
    _write_reviews(folder, reviews)
    (folder / OUTCOME).unlink(missing_ok=True)


def candidate_of(folder: Path, behind: str) -> str:
    """The name of the candidate in ``folder``, as every worker has to spell it."""
    return f"{(folder / SCORER).resolve()}{behind}"


def missing_of(scorer: str) -> str:
    """What is missing of the candidate with that name; "" where it is whole."""
    try:
        ScorerManifest.load(Path(ScorerSpec.parse(scorer).values))
    except (ModelError, OSError) as error:
        return str(error)
    return ""


def _write_reviews(folder: Path, reviews: Iterable[Review]) -> None:
    path = folder / REVIEWS
    path.touch(mode=0o600)
    path.write_bytes(b"".join(review.to_json() + b"\n" for review in reviews))


def read_reviews_of(folder: Path) -> list[Review]:
    rows = read_jsonl(folder / REVIEWS, Review)
    return [row for row in rows if not isinstance(row, BadLine)]


def read_outcome(folder: Path) -> Outcome | None:
    path = folder / OUTCOME
    return Outcome.model_validate_json(path.read_bytes()) if path.exists() else None


def carry_out(folder: Path) -> Outcome:
    """Train the candidate and hold it against the live scorer; goes on where it was stopped."""
    if done := read_outcome(folder):
        return done
    task = read_task(folder)
    decided = Decided.of(read_reviews_of(folder), task.held)
    outcome = Outcome()
    progress = ProgressFile(folder)
    try:
        outcome = _trained(folder, task, decided, progress)
        result = _judged(folder, task, decided)
        judged_by = tuple(sorted(Decided.named(decided.held)))
        outcome = outcome.model_copy(update={"result": result, "judged_by": judged_by})
    except (OperatorError, ValueError, OSError) as error:  # what we say of labels and models
        outcome = outcome.model_copy(update={"problem": str(error)[:500]})
    progress.remove()
    _whole(folder / OUTCOME, outcome.model_dump_json())
    (folder / REVIEWS).unlink(missing_ok=True)  # what reviews quote is kept no longer than needed
    return outcome


def _trained(folder: Path, task: Task, decided: Decided, progress: ProgressFile) -> Outcome:
    from safepassage.scoring_worker import load_scorer  # noqa: PLC0415 (the scorers' libraries)
    from safepassage.scoring_worker.training import Recipe, train  # noqa: PLC0415

    scorer = folder / SCORER
    if not (scorer / MANIFEST_NAME).exists():
        recipe = Recipe(name="learnt")
        taught = _taught(folder, task, decided)
        train(task.base, taught, scorer, recipe, resume=True, on_progress=progress)
    said = ScorerManifest.load(scorer).metrics.get("learnt")
    learnt = {k: str(v) for k, v in said.items()} if isinstance(said, dict) else {}
    candidate = load_scorer(candidate_of(folder, task.behind), packs=task.packs)
    candidate.close()
    taught_by = tuple(sorted(Decided.named(decided.taught)))
    return Outcome(revision=candidate.revision, learnt=learnt, taught_by=taught_by)


def _judged(folder: Path, task: Task, decided: Decided) -> PromotionResult:
    """The candidate against the live scorer, on documents that taught it nothing."""
    from safepassage.scoring_worker import load_scorer  # noqa: PLC0415 (the scorers' libraries)

    from ..release.promotion import Incumbent, case_of, judged_against  # noqa: PLC0415

    if missing := decided.wanted(task.held, task.bounds.min_labels):
        raise ReleaseRefused(f"only reviews certify a candidate; more are wanted: {missing}")
    load = partial(load_scorer, packs=task.packs)
    live, candidate = Incumbent(task.live, task.live_revision), candidate_of(folder, task.behind)
    cases = [case_of(label) for label in decided.held]
    return judged_against(live, candidate, cases, task.bounds, load)


def _taught(folder: Path, task: Task, decided: Decided) -> TrainingLabels:
    """What reviews teach, and the grader. Documents that judge teach nothing."""
    from safepassage.scoring_worker import load_scorer  # noqa: PLC0415 (the scorers' libraries)
    from safepassage.scoring_worker.training import TrainingLabels  # noqa: PLC0415

    gold = [pair for label in decided.taught if (pair := label.pair) is not None]
    if not task.silver:
        return TrainingLabels(gold=gold, sources=(f"{len(gold)} reviews",))
    grader = load_scorer("llm")
    try:
        every = graded(folder, grader)
    finally:
        grader.close()
    silver = [pair for pair in every if not judges(pair.group, task.held)]
    sources = (f"{len(gold)} reviews", f"{len(silver)} labels by {grader.revision}")
    return TrainingLabels(gold=gold, silver=silver, sources=sources)


def _whole(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
