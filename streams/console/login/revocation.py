"""People whose sessions are over: the subjects listed in a file."""

import os
from pathlib import Path

import structlog

from safepassage.schemas import ReviewerLogin

log = structlog.get_logger(__name__)


class Revocations:
    """The file's subjects, one a line, "#" begins a remark. It is read again when it changes, so
    that a line counts from the next request on. While it cannot be read everybody is revoked: it
    is not known who is not."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._subjects: frozenset[str] | None = frozenset()

    def check(self) -> str | None:
        """Why the file cannot be read; None where it can, or where it is missing."""
        return self._read() if self._path else None

    def revoked(self, login: ReviewerLogin) -> bool:
        """Whether the sessions of a person are over. A name counts without its case: a proxy may
        spell it otherwise."""
        if problem := self.check():
            log.error("revocations_unreadable", path=str(self._path), problem=problem)
        return self._subjects is None or login.subject.casefold() in self._subjects

    def _read(self) -> str | None:
        assert self._path is not None  # noqa: S101 - `check` asks only where there is a file
        try:
            with self._path.open(encoding="utf-8") as stream:
                about = os.fstat(stream.fileno())
                seen = about.st_mtime_ns, about.st_size, about.st_ino
                if seen != self._seen or self._subjects is None:
                    lines = (line.partition("#")[0].strip() for line in stream)
                    self._subjects = frozenset(line.casefold() for line in lines if line)
                    self._seen = seen
        except (OSError, ValueError) as error:
            self._subjects = None
            return os.strerror(error.errno or 0) if isinstance(error, OSError) else "no UTF-8"
        return None
