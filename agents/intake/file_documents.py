"""What a file gives: documents, and what of it gave none."""

from collections import Counter

from pydantic import Field

from safepassage.schemas import Contract, Layout, Omission
from safepassage.schemas.base import Text
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


class ImportedPart(Contract):
    """One document of a file: the file itself, or one of its attachments.

    ``name`` is "" for the file itself, else the attachment's own, in an attached e-mail with that
    one's before it. ``part`` see `schemas.Original`.
    """

    name: Text = ""
    part: tuple[int, ...] = ()
    media_type: str
    text: Text = Field(repr=False)
    layout: Layout | None = Field(default=None, repr=False)
    omissions: tuple[Omission, ...] = ()


class RefusedPart(Contract):
    """A file or an attachment that gave no document, and why."""

    name: Text = ""
    reason: Text


class Imported(Contract):
    """Everything that came of one file. Each of its parts is in one of the two."""

    parts: tuple[ImportedPart, ...] = ()
    refused: tuple[RefusedPart, ...] = ()
