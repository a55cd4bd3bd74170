"""A scorer with thresholds raised for some entity types, so that less passes without a person.

The limits are part of its name and of its revision, such as ``default#{"Amount":0.97}``: a release
that names it survives every restart, and a replay with that name repeats its verdicts to the byte.
"" represents all types; at 1 nothing passes.
"""

import json
from collections.abc import Mapping, Sequence

from safepassage.schemas import Assessment, stable_id
from safepassage.scoring_worker.learnt_from import LearntFrom, said_by
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.memory.learning import AroundScorer
from safepassage.scoring_worker.risk.groups import BELOW, NOTHING_PASSES
from safepassage.scoring_worker.scorer import Pair, Scorer

MARK = "#{"
_RAISED = "-raised-"
_DIGITS = 12

Limits = Mapping[str, float]


def with_limits(name: str, limits: Limits) -> str:
    """The name of scorer ``name`` with these limits and those it has; the higher ones count."""
    base, before = parted(name)
    merged = {key: max(limits.get(key, 0.0), before.get(key, 0.0)) for key in {*limits, *before}}
    return f"{base}#{_written(merged)}" if merged else base


def parted(name: str) -> tuple[str, dict[str, float]]:
    """A scorer's name without its limits, and the limits.

    Raises:
        ModelError: what is behind the mark is no limits.
    """
    base, mark, rest = name.partition(MARK)
    if not mark:
        return name, {}
    try:
        read = json.loads(f"{{{rest}")
    except ValueError:
        read = None
    if not isinstance(read, dict) or not all(
        isinstance(value, int | float) and 0 <= value <= 1 for value in read.values()
    ):
        raise ModelError(
            f'{name!r} names no limits: write them as {base}#{{"Amount":0.97}}, from 0 to 1'
        )
    return base, {key.casefold(): float(value) for key, value in read.items()}


def revision_with(revision: str, limits: Limits) -> str:
    """The revision of a scorer of ``revision``, which may have limits already, with ``limits``."""
    digest = stable_id("limits", _written(limits))[:_DIGITS]
    return f"{revision.partition(_RAISED)[0]}{_RAISED}{digest}"


class Raised(AroundScorer):
    """``scorer``, whose thresholds are at least ``limits``, by entity type without case."""

    def __init__(self, scorer: Scorer, limits: Limits) -> None:
        self._scorer = scorer
        self._limits = dict(limits)
        self.revision = revision_with(scorer.revision, limits)

    @property
    def name(self) -> str:
        return self._scorer.name

    @property
    def learnt_from(self) -> LearntFrom | None:
        """What the scorer learnt from."""
        return said_by(self._scorer)

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """The scorer's scores with thresholds that are no lower; failures stay failures."""
        assessments = zip(pairs, self._scorer.assess(pairs), strict=True)
        return [self._raised(pair, assessment) for pair, assessment in assessments]

    def _raised(self, pair: Pair, assessment: Assessment) -> Assessment:
        update: dict[str, object] = {"revision": self.revision}
        if assessment.score is not None and assessment.threshold is not None:
            own = self._limits.get(pair.entity_type.casefold(), 0.0)
            limit = max(own, self._limits.get("", 0.0))
            update["threshold"] = max(assessment.threshold, limit)
            if limit >= NOTHING_PASSES:
                update["score"] = min(assessment.score, NOTHING_PASSES - BELOW)
        return assessment.model_copy(update=update)


def _written(limits: Limits) -> str:
    return json.dumps(dict(limits), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
