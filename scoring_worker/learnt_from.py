"""Which documents a scorer has learnt from, so that nobody tests it on them."""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Annotated

import structlog
from pydantic import Field, StringConstraints, field_validator

from safepassage.schemas.base import Contract

log = structlog.get_logger(__name__)

MAX_DIGESTS = 100_000
"""About 2.4 MB of scorer.json. A scorer that learnt from more does not say from which."""
DIGEST_BYTES = 8
# How `safepassage labels` names a later version of a document: id@digest.
_VERSION = re.compile(r"@[0-9a-f]{12}\Z")

Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]


class LearntFrom(Contract):
    """Digests of the documents' ids and of the passages, sorted: ids and texts stay at home.

    It leaves out the published sets that ``trained_on`` names. Weights, stack, calibration and
    thresholds count alike: each is fitted to what it saw.
    """

    digests: tuple[Digest, ...] = Field(default=(), max_length=MAX_DIGESTS)

    def knows(self, document: str, passages: Iterable[str] = ()) -> bool:
        """Whether it has seen the document of that id, or one of the passages."""
        return any(self._has(_digest(name)) for name in (*_ids(document), *passages))

    def _has(self, digest: str) -> bool:
        at = bisect_left(self.digests, digest)
        return at < len(self.digests) and self.digests[at] == digest

    @field_validator("digests")
    @classmethod
    def _in_order(cls, digests: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(digests))


def more_learnt(before: LearntFrom | None, seen: Iterable[tuple[str, str]]) -> LearntFrom | None:
    """``before`` and what was ``seen`` since, as ids of documents and their passages.

    None, which is "not known", where it was not known before, or is too much to list.
    """
    if before is None:
        log.warning("learnt_from_unknown", reason="the base does not say what it learnt from")
        return None
    digests = set(before.digests)
    for document, passage in seen:
        digests |= {_digest(name) for name in (*_ids(document), passage) if name}
    if len(digests) > MAX_DIGESTS:
        log.warning("learnt_from_unknown", reason=f"more than {MAX_DIGESTS} documents and passages")
        return None
    return LearntFrom(digests=tuple(digests))


def said_by(scorer: object) -> LearntFrom | None:
    """What a scorer says that it learnt from; None where it does not say."""
    said = getattr(scorer, "learnt_from", None)
    return said if isinstance(said, LearntFrom) else None


def _ids(document: str) -> tuple[str, ...]:
    return (document, _VERSION.sub("", document)) if document else ()


def _digest(name: str) -> str:
    encoded = name.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=DIGEST_BYTES).hexdigest()
