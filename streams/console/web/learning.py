"""The page on what was learnt from decisions. No HTTP, no HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from safepassage.schemas.proportion import Proportion
from safepassage.scoring_worker.risk.accepted import AcceptedRisk

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
    """One figure of the live scorer and of the candidate."""

    name: str
    live: str
    candidate: str


def learning_page(runs: Runs | None) -> dict[str, object]:
    """What the page shows; ``runs`` is None where this console knows of none."""
    if runs is None:
        empty = {"asking": None, "progress": None, "events": (), "compared": (), "bounds": ()}
        return empty | {"words": WORDS}
    asking = runs.asking
    figures = asking.figures if asking and isinstance(asking.figures, dict) else {}
    replayed = asking and next(
        (e for e in runs.events if e.run == asking.run and e.step == "replayed"), None
    )
    again = replayed.figures if replayed and isinstance(replayed.figures, dict) else {}
    return {
        "asking": asking,
        "progress": runs.progress,
        "events": tuple(reversed(runs.events[-LISTED_EVENTS:])),
        "compared": (*_compared(figures), *_replayed(again)),
        "bounds": _bounds(figures),
        "words": WORDS,
    }


def _compared(figures: Mapping[str, Any]) -> Sequence[Compared]:
    live, candidate = figures.get("incumbent"), figures.get("candidate")
    if not isinstance(live, dict) or not isinstance(candidate, dict):
        return ()
    return tuple(
        Compared(name.replace("_", " "), f"{live[name]:.3f}", f"{candidate[name]:.3f}")
        for name in FIGURES
        if isinstance(live.get(name), int | float) and isinstance(candidate.get(name), int | float)
    )


def _replayed(figures: Mapping[str, Any]) -> Sequence[Compared]:
    """What would pass without a person, and how much of it is wrong, by the replay."""
    try:
        sides = [figures["before"], figures["after"]]
        passed = [_share(side["passed"]) for side in sides]
        risks = [AcceptedRisk.model_validate(side["risk"]) for side in sides]
    except (KeyError, TypeError, ValueError):
        return ()  # an event from before replays said it
    return (
        Compared("passes without a person", *passed),
        Compared("wrong of what passes", *map(str, risks)),
    )


def _share(passed: Mapping[str, Any]) -> str:
    proportion = Proportion(int(passed["successes"]), int(passed["total"]))
    low, high = proportion.interval
    return f"{proportion.share or 0.0:.3f} [{low:.3f}, {high:.3f}] of {proportion.total}"


def _bounds(figures: Mapping[str, Any]) -> Sequence[tuple[bool, str]]:
    bounds = figures.get("bounds")
    if not isinstance(bounds, list):
        return ()
    found = (bound for bound in bounds if isinstance(bound, dict))
    return tuple((bool(one.get("passed")), str(one.get("explanation", ""))) for one in found)
