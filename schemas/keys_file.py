"""The file of ``SAFEPASSAGE_KEYS_FILE``: the secrets of a deployment.

One key a line: 32 bytes in base64, as ``openssl rand -base64 32`` prints them. The first is used
for what is new, all for what is there.
"""

import base64
import binascii
import hashlib
import hmac
import stat
from pathlib import Path
from typing import Final

KEY_BYTES: Final = 32


class KeysFileError(ValueError):
    """The file cannot be used; the message says why."""


def read_keys(path: Path) -> list[bytes]:
    """The keys of the file ``path``, at least one. Raises `KeysFileError` where it cannot be read,
    others may read it, or a line is no key."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").split()
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise KeysFileError(f"{path}: others may read it; run: chmod 600 {path}")
    except OSError as error:
        raise KeysFileError(f"SAFEPASSAGE_KEYS_FILE: {path}: {error.strerror}") from None
    keys = [decoded(line) for line in lines]
    if not keys or not all(len(key) == KEY_BYTES for key in keys):
        raise KeysFileError(
            f"{path}: each line has to be {KEY_BYTES} bytes in base64; "
            "`openssl rand -base64 32` makes one"
        )
    return keys


def key_name(key: bytes) -> str:
    """What tells a key from others, and nothing about it: 16 hex digits."""
    return hmac.digest(key, b"safepassage key name", hashlib.sha256)[:8].hex()


def decoded(text: str) -> bytes:
    """The bytes of a line in base64; none where it is no base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
