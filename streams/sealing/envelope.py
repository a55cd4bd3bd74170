"""A record's value, sealed: AES-256-GCM under the key of what it is about.

::

    magic (5)  length (2)  subject  nonce (12)  ciphertext and tag

The subject is a document's id, or a snapshot's name. Topic, key and subject are authenticated: a
value that was moved to another topic or key does not open.
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .frame import LENGTH_BYTES, MAGIC, NONCE_BYTES, SealBroken, subject_of


def seal(value: bytes, key: bytes, subject: str, topic: str, record_key: bytes | None) -> bytes:
    name, nonce = subject.encode(), os.urandom(NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, value, _bound(name, topic, record_key))
    return MAGIC + len(name).to_bytes(LENGTH_BYTES, "big") + name + nonce + sealed


def opened(value: bytes, key: bytes, topic: str, record_key: bytes | None) -> bytes:
    """What was sealed. Raises `SealBroken` where it was altered or moved, or ``key`` is another."""
    name = subject_of(value).encode()
    start = len(MAGIC) + LENGTH_BYTES + len(name)
    nonce, sealed = value[start : start + NONCE_BYTES], value[start + NONCE_BYTES :]
    try:
        return AESGCM(key).decrypt(nonce, sealed, _bound(name, topic, record_key))
    except (InvalidTag, ValueError):
        raise SealBroken("the seal does not open: altered, or moved from its place") from None


def _bound(name: bytes, topic: str, record_key: bytes | None) -> bytes:
    parts = (topic.encode(), b"-" if record_key is None else b"+" + record_key, name)
    return b"".join([MAGIC, *(len(p).to_bytes(4, "big") + p for p in parts)])
