"""Which decisions teach and which ones judge, and how many more are wanted of each."""

from collections import Counter
from collections.abc import Iterable

from safepassage.scoring_worker.evaluation.splits import held_out

_SALT = "learning"
"""A document that judges once judges always: no candidate has ever learnt from it."""
SIDES = {False: "learn from", True: "judge by"}
CLASSES = {True: "supported", False: "unsupported"}


def judges(document: str, share: float) -> bool:
    """Whether a document is of the ``share`` that judges candidates and teaches them nothing."""
    return held_out(document, share, _SALT)


def wanted(decided: Iterable[tuple[str, bool]], share: float, each: int) -> list[str]:
    """What is missing to ``each`` labels of both classes, to learn from and to judge by, in words.

    ``decided`` are documents, and whether the value is supported.
    """
    counts = Counter((judges(document, share), supported) for document, supported in decided)
    return [
        f"{each - counts[side, label]} {named} to {purpose}"
        for side, purpose in SIDES.items()
        for label, named in CLASSES.items()
        if counts[side, label] < each
    ]
