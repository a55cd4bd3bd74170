"""Elided quotes: "the claimant ... was a member" quotes two places of the document."""

from __future__ import annotations

import re

MIN_PART_CHARACTERS = 8
"""A shorter part says too little about where it comes from, so the quote stays whole."""

ELLIPSIS = "..."  # as normalised

# Normalisation has turned "…" into "...". Four dots are a full stop and an ellipsis, a longer
# row is a leader of a form ("Name ........ Smith") and no elision.
_ELISION = re.compile(r" ?(?:\[ ?\.{3} ?\]|\( ?\.{3} ?\)|(?<!\.)\.{3,4}(?!\.)) ?")


def elided_parts(context: str) -> tuple[str, ...]:
    """The parts of a normalised context that stand between ellipses, in order.

    The context itself, as the only part, where it has no ellipsis or where a part would be
    shorter than `MIN_PART_CHARACTERS`.
    """
    parts = tuple(_ELISION.split(context))
    if all(len(part) >= MIN_PART_CHARACTERS for part in parts):
        return parts
    return (context,)
