"""What a training changed, what it left as it was, and how many labels it would have needed."""

from collections.abc import Sequence

from pydantic import JsonValue

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.manifest import ScorerManifest


class Learnt(Contract):
    """For each part of a scorer why it was kept; "" where it learnt."""

    reader: str = ""
    head: str = ""
    thresholds: str = ""

    @property
    def block(self) -> dict[str, JsonValue]:
        """For scorer.json and the card."""
        return {
            name: f"kept: {why}" if why else "learnt" for name, why in self.model_dump().items()
        }


def learnt_lines(manifest: ScorerManifest) -> list[str]:
    """A line for each part of a trained scorer, for people: learnt, or kept and why."""
    said = manifest.metrics.get("learnt")
    return [f"{name} {what}" for name, what in said.items()] if isinstance(said, dict) else []


def lacking(pairs: Sequence[LabelledPair], each: int) -> str:
    """Which labels are missing to ``each`` of both classes, for people; "" where none are."""
    supported = sum(pair.label for pair in pairs)
    missing = {"supported": each - supported, "unsupported": each - (len(pairs) - supported)}
    wanted = [f"{count} more {name}" for name, count in missing.items() if count > 0]
    return f"{' and '.join(wanted)} labels are wanted" if wanted else ""
