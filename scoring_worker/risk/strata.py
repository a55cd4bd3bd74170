"""From reviews to samples: what was accepted and drawn by lot, what was stopped and drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from safepassage.schemas import Draw

from .certificate import Stratum
from .draws import FLOOR


@dataclass(frozen=True, slots=True)
class DrawnLabel:
    """A label that chance chose: the score in [0, 1], and whether the value is wrong and the
    verdict was ``accepted`` when it was drawn. Spot checks from before draws were recorded have
    none."""

    score: float
    wrong: bool
    accepted: bool
    draw: Draw | None


def strata_of(labels: Sequence[DrawnLabel]) -> list[Stratum]:
    """The accepted and the stopped values as two samples of one stream; only the first where too
    little is known of the second, only the second where nothing was accepted."""
    accepted = [label for label in labels if label.accepted]
    drawn = [(label.draw, label) for label in labels if label.draw and not label.accepted]
    drawn.sort(key=lambda pair: pair[0].before)
    sizes = [label.draw.population / label.draw.rate for label in accepted if label.draw]
    passed = Stratum.of([one.score for one in accepted], [one.wrong for one in accepted])
    if not drawn or (accepted and not sizes):
        return [passed]
    stopped = max(draw.population for draw, _ in drawn)
    share = max(sizes, default=0.0) / (max(sizes, default=0.0) + stopped)
    rest = Stratum.of(
        [label.score for _, label in drawn],
        [label.wrong for _, label in drawn],
        [draw.weight for draw, _ in drawn],
        share=1 - share,
        highest=max(1 / FLOOR, *(draw.weight for draw, _ in drawn)),
        population=[draw.population for draw, _ in drawn],
    )
    return [replace(passed, share=share), rest] if accepted else [rest]
