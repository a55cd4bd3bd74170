"""One process learns at a time: it holds a lock in the folder, which ends with it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safepassage.streams.runtime.errors import OperatorError

LOCK = "lock"


class LearnsElsewhere(OperatorError):
    """Another process learns in the same folder."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Learn in ``folder`` as the only process; the kernel gives it back, however this one ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("wb")
    except OSError as error:
        raise OperatorError(f"SAFEPASSAGE_LEARN_FOLDER cannot be used: {error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LearnsElsewhere(
                f"another process learns in {folder} now; see Learning on the console"
            ) from None
        except OSError as error:
            raise OperatorError(
                f"{folder} cannot be locked: {error}; learning needs a file system with locks"
            ) from error
        yield
