"""JSON lines in a file that grows: a run that was killed goes on from what it had."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

import structlog
from pydantic import BaseModel

from safepassage.schemas.jsonl import BadLine, read_jsonl

log = structlog.get_logger(__name__)

Line = TypeVar("Line", bound=BaseModel)


class KeptLines(Generic[Line]):
    """Lines of one model in ``path``; nowhere without a path. Threads may add at once."""

    def __init__(self, path: Path | None, model: type[Line]) -> None:
        self._path = path
        self._model = model
        self._lock = threading.Lock()

    def read(self) -> list[Line]:
        """Every line that can be read; how many could not is logged, and nothing of what they hold.

        Raises:
            OSError: the file is there and cannot be read.
        """
        if self._path is None or not self._path.exists():
            return []
        rows = list(read_jsonl(self._path, self._model))
        found = [row for row in rows if not isinstance(row, BadLine)]
        if len(found) < len(rows):
            log.warning("kept_lines_unreadable", file=self._path.name, lines=len(rows) - len(found))
        return found

    def add(self, lines: Iterable[Line]) -> None:
        """Append ``lines``, on a line of their own even where a killed run broke off.

        Raises:
            OSError: the file cannot be written.
        """
        if self._path is None:
            return
        written = b"".join(line.model_dump_json().encode() + b"\n" for line in lines)
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a+b") as stream:
                if stream.tell():
                    stream.seek(-1, 2)
                    written = written if stream.read(1) == b"\n" else b"\n" + written
                stream.write(written)
