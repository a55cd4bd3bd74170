"""Reads the files that training rests on. ``.gz`` is read everywhere."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from safepassage.schemas.jsonl import BadLine, read_objects

Row = Mapping[str, Any]


class CorpusError(ValueError):
    """A file of labels or documents that cannot be read; the message names file and line."""


def read_rows(path: Path) -> Iterator[Row]:
    """The objects of a JSONL or JSONL.gz file.

    Raises:
        CorpusError: the file is missing, or a line is not a JSON object.
    """
    try:
        for row in read_objects(path):
            if isinstance(row, BadLine):
                raise CorpusError(str(row))
            yield row
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from error
