"""Splits by document: pairs of one document are never on both sides."""

import hashlib
import math
import random
from collections.abc import Iterable, Sequence

from .labelled_pair import LabelledPair


def split_by_group(
    pairs: Sequence[LabelledPair], share: float, seed: int = 0
) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """(train, validation), the latter of about ``share`` of the documents, the same each time.

    Pairs of a single document are split one by one: there is no better way then. At least one
    group is left on each side wherever there are two.
    """
    groups = {pair.group for pair in pairs}
    if len(groups) > 1:
        chosen = _lowest(groups, share, seed)
        held = [pair.group in chosen for pair in pairs]
    else:
        names = [f"{at}:{pair.pair.hypothesis}" for at, pair in enumerate(pairs)]
        chosen = _lowest(set(names), share, seed) if len(names) > 1 else set()
        held = [name in chosen for name in names]
    train = [pair for pair, out in zip(pairs, held, strict=True) if not out]
    return train, [pair for pair, out in zip(pairs, held, strict=True) if out]


def held_out(group: str, share: float, salt: str = "") -> bool:
    """Whether a document belongs to the held-out ``share``: always the same answer for its id."""
    digest = hashlib.sha256(f"{salt}{group}".encode()).digest()
    return int.from_bytes(digest[:4]) < share * 2**32


def in_order(documents: Iterable[str], seed: int | None = None) -> dict[str, int]:
    """The place of each document: by name, or as ``seed`` shuffles them."""
    names = sorted(set(documents))
    if seed is not None:
        random.Random(seed).shuffle(names)
    return {name: at for at, name in enumerate(names)}


def folds(documents: Iterable[str], count: int, seed: int | None = None) -> dict[str, int]:
    """The fold of each document, dealt out in their order; each is in one alone."""
    return {name: at % count for name, at in in_order(documents, seed).items()}


def _lowest(names: set[str], share: float, seed: int) -> set[str]:
    count = min(max(1, math.ceil(share * len(names))), len(names) - 1)
    ranked = sorted(names, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())
    return set(ranked[:count])
