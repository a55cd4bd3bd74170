"""Coefficients of a stack that weighs what packs bring."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from recipes.opinion_file import judged_once
from recipes.stack_pairs import document_pairs
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.training.stacking import fit_stack
from safepassage.scoring_worker.weighing.stack import ShapeWeights

PACKS = ("contracts", "legal")


def pack_weights(
    path: Path, scorer: Callable[[], DefaultScorer], data: Path
) -> dict[str, dict[str, ShapeWeights]]:
    """By names of packs the coefficients, fitted on documents of their fields that trained nothing.
    Those of free claims stay as they are without packs: the documents have none.

    ``scorer`` has the packs; its opinions are kept in ``path``.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    judged = judged_once(path, scorer, partial(document_pairs, data))
    fitted = fit_stack([one for name, own in judged.items() for one in own.labelled(name)])
    of_values = {shape: own for shape, own in fitted.shapes.items() if shape != "claim"}
    return dict.fromkeys((*PACKS, "+".join(PACKS)), of_values)
