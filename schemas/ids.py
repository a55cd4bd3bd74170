"""Deterministic identifiers (promise P3).

Delivery is at-least-once, so an effect is told from its repetition by its id. Ids are the first 128
bits of a SHA-256 over length-prefixed parts, so that ``("ab", "c")`` and ``("a", "bc")`` differ.
"""

import hashlib
import json

from pydantic import JsonValue

ID_HEX_DIGITS = 32


def text_digest(text: str) -> str:
    """SHA-256 of ``text`` in UTF-8 as 64 hex digits."""
    return hashlib.sha256(_bytes(text)).hexdigest()


def strict_json(text: str | bytes) -> JsonValue:
    """What ``text`` holds as JSON, which knows neither NaN nor infinity. Raises `ValueError` or
    `RecursionError` where it is no JSON, or nested too deep."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    value: JsonValue = json.loads(text, parse_constant=refuse)
    return value


def canonical_json(value: JsonValue) -> str:
    """``value`` as JSON with sorted keys: equal values give equal text.

    Not orjson, which refuses integers above 64 bits (a file number read as a number). Raises
    `ValueError` where a number is NaN or infinite."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def stable_id(kind: str, *parts: str) -> str:
    """An id of 32 hex digits for the event ``kind`` made of ``parts``, in this order."""
    digest = hashlib.sha256()
    for part in (kind, *parts):
        encoded = _bytes(part)
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()[:ID_HEX_DIGITS]


def _bytes(text: str) -> bytes:
    # No event holds a lone surrogate; anything else that is hashed must neither fail nor collide.
    return text.encode("utf-8", "surrogatepass")
