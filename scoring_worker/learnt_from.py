"""Which documents a scorer has learnt from, so that nobody tests it on them.

Where the deployment has a file of keys (``SAFEPASSAGE_KEYS_FILE``), the digests are keyed: someone
with the folder alone cannot tell whether a text was learnt from. Bare ones of before stay readable.
A keyed digest is made of the bare one, so that a scorer which goes on from an old folder has keyed
ones alone.
"""

import hashlib
import hmac
import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import structlog
from pydantic import Field, StringConstraints, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from safepassage.schemas.base import Contract, is_none
from safepassage.schemas.keys_file import key_name, read_keys

log = structlog.get_logger(__name__)

MAX_DIGESTS = 100_000
"""About 2.4 MB of scorer.json. A scorer that learnt from more does not say from which."""
DIGEST_BYTES = 8
# How `safepassage labels` names a later version of a document: id@digest.
_VERSION = re.compile(r"@[0-9a-f]{12}\Z")
_PURPOSE = b"safepassage learnt from\0"

Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]


class DigestKeyMissing(ValueError):
    """The digests are under a key that this process lacks: what was learnt from cannot be told."""


class DigestSettings(BaseSettings):
    """Where the key of digests is: the first of the file for new ones, all for those of before."""

    model_config = SettingsConfigDict(env_prefix="SAFEPASSAGE_", frozen=True, extra="ignore")

    keys_file: Path | None = None


class LearntFrom(Contract):
    """Digests of the documents' ids and of the passages, sorted: ids and texts stay at home.

    It leaves out the published sets that ``trained_on`` names. Weights, stack, calibration and
    thresholds count alike: each is fitted to what it saw. ``key`` names the key that the digests
    are made with, None where they are bare.
    """

    digests: tuple[Digest, ...] = Field(default=(), max_length=MAX_DIGESTS)
    key: Digest | None = Field(default=None, exclude_if=is_none)

    def knows(self, document: str, passages: Iterable[str] = ()) -> bool:
        """Whether it has seen the document of that id, or one of the passages. Raises
        `DigestKeyMissing` where the key of the digests is not in SAFEPASSAGE_KEYS_FILE;
        `KeysFileError`: that file cannot be used."""
        if not self.digests:
            return False
        key = _key_of(self.key)
        return any(self._has(_keyed(key, _bare(name))) for name in (*_ids(document), *passages))

    def _has(self, digest: str) -> bool:
        at = bisect_left(self.digests, digest)
        return at < len(self.digests) and self.digests[at] == digest

    @field_validator("digests")
    @classmethod
    def _in_order(cls, digests: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(digests))


def more_learnt(before: LearntFrom | None, seen: Iterable[tuple[str, str]]) -> LearntFrom | None:
    """``before`` and what was ``seen`` since, as ids of documents and their passages.

    None, which is "not known", where it was not known before, or is too much to list. Raises
    `DigestKeyMissing` where what was learnt before is under a key that SAFEPASSAGE_KEYS_FILE lacks;
    `KeysFileError`: that file cannot be used."""
    if before is None:
        log.warning("learnt_from_unknown", reason="the base does not say what it learnt from")
        return None
    name = (before.key if before.digests else None) or next(iter(_keys()), None)
    key = _key_of(name)
    digests = _under(name, before)
    for document, passage in seen:
        digests |= {_keyed(key, _bare(name)) for name in (*_ids(document), passage) if name}
    if len(digests) > MAX_DIGESTS:
        log.warning("learnt_from_unknown", reason=f"more than {MAX_DIGESTS} documents and passages")
        return None
    return LearntFrom(digests=tuple(digests), key=name if digests else None)


def both_learnt(one: LearntFrom | None, other: LearntFrom | None) -> LearntFrom | None:
    """What two scorers learnt from that judge together; None, which is "not known", where one does
    not say, or their digests are under two keys, of which one is not here."""
    if one is None or other is None:
        return None
    if not (one.digests and other.digests):
        return one if one.digests else other
    name = one.key or other.key
    try:
        return LearntFrom(digests=tuple(_under(name, one) | _under(name, other)), key=name)
    except ValueError as error:
        log.warning("learnt_from_unknown", reason=str(error))
        return None


def said_by(scorer: object) -> LearntFrom | None:
    """What a scorer says that it learnt from; None where it does not say."""
    said = getattr(scorer, "learnt_from", None)
    return said if isinstance(said, LearntFrom) else None


def _ids(document: str) -> tuple[str, ...]:
    return (document, _VERSION.sub("", document)) if document else ()


def _bare(name: str) -> bytes:
    encoded = name.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=DIGEST_BYTES).digest()


def _keyed(key: bytes | None, bare: bytes) -> str:
    if key is None:
        return bare.hex()
    return hmac.digest(key, _PURPOSE + bare, hashlib.sha256)[:DIGEST_BYTES].hex()


def _under(name: str | None, learnt: LearntFrom) -> set[str]:
    """The digests of ``learnt`` under the key of that name, bare ones keyed. Raises
    `DigestKeyMissing` where they are under another key, or this one is not here."""
    if learnt.key == name:
        return set(learnt.digests)
    if learnt.key is not None:
        raise DigestKeyMissing(f"digests are under the keys {learnt.key} and {name}")
    key = _key_of(name)
    return {_keyed(key, bytes.fromhex(digest)) for digest in learnt.digests}


def _key_of(name: str | None) -> bytes | None:
    if name is None:
        return None
    key = _keys().get(name)
    if key is None:
        raise DigestKeyMissing(
            f"what the scorer learnt from is told under the key {name}, which the file of "
            "SAFEPASSAGE_KEYS_FILE lacks: set it, or add that key as a further line"
        )
    return key


def _keys() -> dict[str, bytes]:
    """The keys of SAFEPASSAGE_KEYS_FILE by their names, the first one first."""
    path = DigestSettings().keys_file
    if path is None:
        return {}
    return _keys_in(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=1)
def _keys_in(path: Path, _changed: int) -> dict[str, bytes]:
    return {key_name(key): key for key in read_keys(path)}
