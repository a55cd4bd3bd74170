"""Which values share a promise: a type with labels enough, else a group, else all the rest.

The confidence holds for all parts together: each is tested at its share of the error (Bonferroni).
Since every accepted value is in one part, what holds of each holds of the whole.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas.base import Contract

from .bounds import labels_needed
from .certificate import CertifiedThreshold, Shortfall, Stratum, certify
from .groups import NOTHING_PASSES

Kind = Literal["type", "group", "rest"]


class Part(Contract):
    """One part of the stream, and what is promised of it, or why nothing is. ``name`` is "" for the
    rest."""

    kind: Kind
    name: str
    labels: int
    certified: CertifiedThreshold | None = None
    shortfall: Shortfall | None = None

    @property
    def threshold(self) -> float:
        """What decides for the part; of what nothing is promised nothing passes."""
        return self.certified.value if self.certified else NOTHING_PASSES


def certify_parts(
    strata: Sequence[Stratum],
    types: Sequence[Sequence[str]],
    groups: Sequence[Sequence[str]],
    risk: float,
    confidence: float = 0.95,
    *,
    least: float = 0.0,
) -> list[Part]:
    """What can be promised of each part; ``types`` and ``groups`` name those of each label of each
    stratum. ``least`` is as for `certify`."""
    folded = [np.array([name.casefold() for name in own], dtype=object) for own in types]
    lent = [np.array(list(own), dtype=object) for own in groups]
    own_types, own_groups = _sufficient(folded, lent, risk, confidence)
    error = (1 - confidence) / (len(own_types) + len(own_groups) + 1)
    parts = []
    left = [np.ones(len(own), dtype=bool) for own in folded]
    cut: list[tuple[Kind, str, list[NDArray[np.bool_]]]] = []
    for name in own_types:
        cut.append(("type", name, [own == name for own in folded]))
    left = [row & ~np.isin(own, own_types) for row, own in zip(left, folded, strict=True)]
    for name in own_groups:
        rows = [row & (own == name) for row, own in zip(left, lent, strict=True)]
        cut.append(("group", name, rows))
    left = [row & ~np.isin(own, own_groups) for row, own in zip(left, lent, strict=True)]
    cut.append(("rest", "", left))
    for kind, name, rows in cut:
        only = [one.only(row) for one, row in zip(strata, rows, strict=True)]
        found = certify(only, risk, 1 - error, least=least)
        said = {"certified" if isinstance(found, CertifiedThreshold) else "shortfall": found}
        labels = sum(int(row.sum()) for row in rows)
        parts.append(Part.model_validate({"kind": kind, "name": name, "labels": labels, **said}))
    return parts


def _sufficient(
    types: Sequence[NDArray[np.object_]],
    groups: Sequence[NDArray[np.object_]],
    risk: float,
    confidence: float,
) -> tuple[list[str], list[str]]:
    """The types, and the groups of what is left, whose labels may suffice for a promise of their
    own. How many labels there are decides, and not what they say."""
    every_type = np.concatenate([*types, np.zeros(0, dtype=object)])
    every_group = np.concatenate([*groups, np.zeros(0, dtype=object)])
    number = 1
    while True:
        needed = labels_needed(risk, 1 - (1 - confidence) / number) or len(every_type) + 1
        own_types = _frequent(every_type, needed)
        own_groups = _frequent(every_group[~np.isin(every_type, own_types)], needed)
        wanted = len(own_types) + len(own_groups) + 1
        if wanted <= number:
            return own_types, own_groups
        number += 1


def _frequent(names: NDArray[np.object_], least: int) -> list[str]:
    return sorted(name for name, count in Counter(names.tolist()).items() if count >= least)
