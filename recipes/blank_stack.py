"""A reader behind the comparators whose stack weighs nothing yet: what a stack is fitted on."""

from collections.abc import Sequence
from pathlib import Path

from safepassage.scoring_worker.encoders.devices import PrecisionChoice
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.scorers.folders import open_reader
from safepassage.scoring_worker.weighing.claim_support import forest_of
from safepassage.scoring_worker.weighing.opinion import SHAPES
from safepassage.scoring_worker.weighing.stack import ShapeWeights, Stack

MAX_LENGTH = 256
"""Tokens of a window of the readers that ship."""
_NEUTRAL = Stack(shapes={shape: ShapeWeights(bias=0.0, weights={}) for shape in SHAPES})


def scorer_without_weights(
    folder: Path,
    packs: Sequence[Pack] = (),
    *,
    words: Path | None = None,
    languages: tuple[str, ...] | None = None,
    precision: PrecisionChoice = "auto",
) -> DefaultScorer:
    """The reader in ``folder``, whose words and vocabulary may lie in the folder ``words``.

    Raises:
        ModelError: a file is missing or malformed.
    """
    manifest = ScorerManifest(
        name="opinions",
        kind="reader",
        labels=0,
        max_length=MAX_LENGTH,
        precision="int8",
        stack=_NEUTRAL.model_dump(mode="json"),
        languages=languages,
    )
    reader = open_reader(manifest, folder, words=words, precision=precision)
    return DefaultScorer(manifest, reader, packs, claims=forest_of(folder))
