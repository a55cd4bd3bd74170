"""A memory in a file: what was decided in words, and the entries a scorer made of it.

JSON with a digest over all of it; nothing is unpickled. It holds values and their passages.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from safepassage.schemas import MemorySnapshot, StandingDecision, stable_id
from safepassage.schemas.base import Contract
from safepassage.schemas.jsonl import validation_summary

MAX_BYTES = 256 * 2**20


class MemoryFileError(ValueError):
    """A file is no memory, or was changed after it was written."""


class MemoryFile(Contract):
    """``decisions`` in the order they were made; ``snapshot`` is what a scorer made of them."""

    version: Literal[1] = 1
    digest: str
    decisions: tuple[StandingDecision, ...] = Field(max_length=100_000)
    snapshot: MemorySnapshot | None = None

    @classmethod
    def of(cls, decisions: Sequence[StandingDecision], snapshot: MemorySnapshot | None) -> Self:
        """The file's content with its digest."""
        return cls(
            digest=_digest(decisions, snapshot), decisions=tuple(decisions), snapshot=snapshot
        )

    @model_validator(mode="after")
    def _is_as_it_was_written(self) -> Self:
        if self.digest != _digest(self.decisions, self.snapshot):
            raise ValueError("the digest is of another content")
        return self

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read and verify ``path``. Raises `MemoryFileError` where it is no memory, was changed, or
        is larger than `MAX_BYTES`; `OSError` where it cannot be read."""
        if path.stat().st_size > MAX_BYTES:
            raise MemoryFileError(f"{path} is larger than {MAX_BYTES} bytes; no memory is")
        try:
            return cls.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise MemoryFileError(
                f"{path} is no memory, or was changed: {validation_summary(error)}; restore it "
                "from a copy, or learn again into a new file"
            ) from None

    def save(self, path: Path) -> None:
        """Write ``path`` whole or not at all. Raises `OSError` where it cannot be written."""
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(self.model_dump_json().encode() + b"\n")
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _digest(decisions: Sequence[StandingDecision], snapshot: MemorySnapshot | None) -> str:
    said = [decision.model_dump_json() for decision in decisions]
    return stable_id("memory-file", *said, snapshot.model_dump_json() if snapshot else "")
