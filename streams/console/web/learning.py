"""The page on what was learnt from decisions. No HTTP, no HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from safepassage.schemas import LearningEvent
from safepassage.schemas.proportion import Proportion
from safepassage.scoring_worker.risk.accepted import AcceptedRisk

from ...release.promotion_bounds import PromotionResult

if TYPE_CHECKING:
    from ...learning.events import Runs

LISTED_EVENTS = 60
WORDS: Mapping[str, str] = {
    "started": "Began to learn",
    "trained": "Learnt",
    "judged": "Was judged on decisions of other documents",
    "shadowed": "Judges beside the live scorer",
    "replayed": "Judged old records again",
    "asked": "Asks to be promoted",
    "promoted": "Decides from now on",
    "ended": "Ended",
}
FIGURES = ("recall", "precision", "f1", "accepted", "macro_f1")


@dataclass(frozen=True, slots=True)
class Compared:
    name: str
    live: str
    candidate: str


def learning_page(runs: Runs | None) -> dict[str, object]:
    """What the page shows; ``runs`` is None where this console knows of none."""
    asking = runs and runs.asking
    judged = _judged(asking) if asking else None
    compared = _compared(judged) if judged else ()
    replayed = runs.of(asking.run, "replayed") if runs and asking else None
    return {
        "asking": asking,
        "progress": runs and runs.progress,
        "events": tuple(reversed(runs.events[-LISTED_EVENTS:])) if runs else (),
        "compared": (*compared, *_replayed(replayed and replayed.figures)),
        "bounds": judged.bounds if judged else (),
        "words": WORDS,
    }


def _judged(asking: LearningEvent) -> PromotionResult | None:
    try:
        return PromotionResult.model_validate(asking.figures)
    except ValidationError:
        return None  # an event of another version


def _compared(judged: PromotionResult) -> Iterator[Compared]:
    for name in FIGURES:
        live, candidate = (getattr(side, name) for side in (judged.incumbent, judged.candidate))
        yield Compared(name.replace("_", " "), f"{live:.3f}", f"{candidate:.3f}")


def _replayed(figures: Any) -> Sequence[Compared]:
    """What would pass without a person, and how much of it is wrong, by the replay."""
    try:
        sides = [figures["before"], figures["after"]]
        passed = [_share(side["passed"]) for side in sides]
        risks = [str(AcceptedRisk.model_validate(side["risk"])) for side in sides]
    except (KeyError, TypeError, ValueError):
        return ()  # an event from before replays said it
    return (
        Compared("passes without a person", *passed),
        Compared("wrong of what passes", *risks),
    )


def _share(passed: Mapping[str, Any]) -> str:
    proportion = Proportion(int(passed["successes"]), int(passed["total"]))
    low, high = proportion.interval
    return f"{proportion.share or 0.0:.3f} [{low:.3f}, {high:.3f}] of {proportion.total}"
