"""Features of labelled pairs, kept in a file: measuring them is most of the work of training."""

from collections.abc import Sequence
from pathlib import Path

from research.curation import CuratedPair
from research.kept_lines import KeptLines
from safepassage.schemas import stable_id
from safepassage.schemas.base import Contract
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.ragulator.measurement import ClaimMeasure
from safepassage.scoring_worker.evaluation.sources import OnProgress

from .fit import LabelledFeatures

BLOCK = 64


class KeptFeatures(Contract):
    """The features of the claims of one sentence; ``key`` names sentence, context and measure."""

    key: str
    claims: tuple[dict[str, float], ...]


def labelled_features(
    pairs: Sequence[CuratedPair], measure: ClaimMeasure, keep: Path, on_progress: OnProgress
) -> list[LabelledFeatures]:
    """The features of every pair, measured where ``keep`` does not hold them yet.

    A sentence that cannot be measured is left out; one that holds two sentences gives two rows.

    Raises:
        OSError: ``keep`` cannot be written.
    """
    kept = KeptLines(keep, KeptFeatures)
    known = {one.key: one.claims for one in kept.read()}
    keys = [stable_id("features", measure.revision, one.context, one.sentence) for one in pairs]
    missing = [at for at, key in enumerate(keys) if key not in known]
    for start in range(0, len(missing), BLOCK):
        on_progress("sentences measured", start, len(missing))
        block = missing[start : start + BLOCK]
        found = measure.measure([Answer((pairs[at].context,), pairs[at].sentence) for at in block])
        made = [
            KeptFeatures(
                key=keys[at],
                claims=() if isinstance(claims, str) else tuple([one.features for one in claims]),
            )
            for at, claims in zip(block, found, strict=True)
        ]
        known |= {one.key: one.claims for one in made}
        kept.add(made)
    on_progress("sentences measured", len(missing), len(missing))
    return [
        LabelledFeatures(features, not pair.grounded, pair.group, pair.source)
        for key, pair in zip(keys, pairs, strict=True)
        for features in known[key]
        if features
    ]
