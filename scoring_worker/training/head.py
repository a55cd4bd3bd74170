"""What labels make of the head: the stack and the thresholds, cautiously.

Both are fitted on what readers say that have not learnt from these labels. The stack stays near
where it was; thresholds stay altogether where labels are too few, or are all of what was stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from pydantic import JsonValue

from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker.evaluation.metrics import at_threshold
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.scorers.folders import open_reader
from safepassage.scoring_worker.threshold_fitting import fit_thresholds, labels_missing
from safepassage.scoring_worker.weighing.claim_support import forest_of
from safepassage.scoring_worker.weighing.stack import Stack

from .judged_pairs import Judged, refitted
from .outcome import Learnt, lacking
from .stacking import moved_alike

if TYPE_CHECKING:
    from .recipe import Recipe, TrainingLabels

log = structlog.get_logger(__name__)

THRESHOLD_LABELS = 40
"""Of each class, for thresholds to be fitted; with fewer the stack's bias learns, held near where
it was."""


def fit_head(
    manifest: ScorerManifest,
    folder: Path,
    start: Stack,
    *,
    labels: TrainingLabels,
    recipe: Recipe,
    judged: Judged,
    learnt: Learnt,
) -> ScorerManifest:
    """``manifest`` with the stack refitted from ``start``, and with thresholds where that is safe.

    ``judged`` is what readers that have not learnt from them make of gold pairs, or of silver ones;
    empty where the reader in ``folder`` learnt nothing, and judges them itself.
    """
    reader = open_reader(manifest, folder)
    scorer = DefaultScorer(manifest, reader, claims=forest_of(folder))
    if not judged.pairs:
        judged = Judged.by(scorer, labels.gold or labels.silver)
    by_people = bool(labels.gold)
    own = [*judged.labelled("gold"), *Judged.by(scorer, labels.head).labelled("head")]
    stack = refitted(start, own, recipe.stack)
    stack = stack.model_copy(update={"with_packs": moved_alike(start, stack.shapes)})
    head = "" if stack != start else lacking(judged.pairs, 1) or "the labels agree with it"
    # Where nothing passed, quarantine is the whole stream.
    kinds = () if manifest.thresholds.pass_nothing else judged.kinds
    kept = labels_missing(judged.supported, kinds, THRESHOLD_LABELS) or ""
    learnt = learnt.model_copy(update={"head": head, "thresholds": kept})
    scores = judged.scores(stack)
    thresholds, found = manifest.thresholds, dict[str, JsonValue]()
    if kept:
        log.info("thresholds_kept", reason=kept)
    else:
        weights = [pair.weight for pair in judged.pairs]
        thresholds, fitted = fit_thresholds(
            scores, judged.supported, judged.types, recipe.target, weights, known=thresholds
        )
        if not by_people:  # types of silver labels are often invented
            fitted = {name: one for name, one in fitted.items() if name in ("", CLAIM_TYPE)}
            of_claims = {n: one for n, one in thresholds.by_type.items() if n in fitted}
            by_type = manifest.thresholds.by_type | of_claims
            thresholds = thresholds.model_copy(update={"by_type": by_type})
        found["thresholds"] = {
            name or "all": one.model_dump(mode="json") for name, one in fitted.items()
        }
    if judged.pairs:
        found["validation"] = at_threshold(scores, judged.pairs, thresholds.default)
    found["learnt"] = learnt.block
    return manifest.model_copy(
        update={"stack": stack.model_dump(mode="json"), "thresholds": thresholds, "metrics": found}
    )
