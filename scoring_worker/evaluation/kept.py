"""Lines in a file that grows: a run that was killed goes on from what it had."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

Line = TypeVar("Line", bound=BaseModel)


class KeptLines(Generic[Line]):
    """Lines of one model in ``path``; nowhere without a path."""

    def __init__(self, path: Path | None, model: type[Line]) -> None:
        self._path = path
        self._model = model

    def read(self) -> list[Line]:
        """Every line that can be read; the last one of a killed run may not.

        Raises:
            OSError: the file is there and cannot be read.
        """
        if self._path is None or not self._path.exists():
            return []
        found = []
        for line in self._path.read_bytes().splitlines():
            try:
                found.append(self._model.model_validate_json(line))
            except ValidationError:
                continue
        return found

    def add(self, lines: Iterable[Line]) -> None:
        """Append ``lines``, on a line of their own even where a killed run broke off.

        Raises:
            OSError: the file cannot be written.
        """
        if self._path is None:
            return
        written = b"".join(line.model_dump_json().encode() + b"\n" for line in lines)
        with self._path.open("a+b") as stream:
            if stream.tell():
                stream.seek(-1, 2)
                written = written if stream.read(1) == b"\n" else b"\n" + written
            stream.write(written)
