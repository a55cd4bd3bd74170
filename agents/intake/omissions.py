"""What is left out of a document's text, counted by kind."""

from __future__ import annotations

from collections import Counter

from safepassage.schemas import Omission
from safepassage.schemas.layout import OmissionKind

Omitted = Counter[OmissionKind]


def omissions(omitted: Omitted, page: int | None) -> tuple[Omission, ...]:
    """What was left out, to be said of the document."""
    return tuple(
        [
            Omission(kind=kind, characters=count, page=page)
            for kind, count in sorted(omitted.items())
            if count
        ]
    )
