"""What a sealed value looks like from outside; without cryptography, for processes without keys."""

from ..runtime.errors import OperatorError

MAGIC = b"\0SPS1"  # JSON never begins so
LENGTH_BYTES = 2
NONCE_BYTES = 12


class KeysUnusable(OperatorError):
    """The file of master keys cannot be used, or does not fit the topic ``keys``."""


class SealBroken(ValueError):
    """A sealed value was altered, cut, or moved from another topic or key."""


def is_sealed(value: bytes | None) -> bool:
    return value is not None and value.startswith(MAGIC)


def subject_of(value: bytes) -> str:
    """Whose key opens a sealed value. Raises `SealBroken` where it is cut off."""
    start = len(MAGIC) + LENGTH_BYTES
    length = int.from_bytes(value[len(MAGIC) : start], "big")
    name = value[start : start + length]
    if len(name) != length or len(value) < start + length + NONCE_BYTES:
        raise SealBroken("the seal is cut off")
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise SealBroken("the seal was altered") from None
