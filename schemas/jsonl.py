"""Rows of JSON lines files, plain or gzipped, one at a time.

A file of rows comes from outside: any line may be anything. A line that is no row becomes a
`BadLine` in its place, so that the caller decides what one bad line costs.
"""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic import BaseModel, RootModel, ValidationError
from pydantic_core import ErrorDetails

MAX_LINE_BYTES = 32 * 1024 * 1024
"""Above the largest document that is accepted anywhere, below what would hurt."""

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SKIP_BYTES = 1024 * 1024
_MAX_FIELD_CHARACTERS = 80

Row = TypeVar("Row", bound=BaseModel)


class _Object(RootModel[dict[str, Any]]):
    """Any JSON object."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a row. ``line`` counts from 1; ``str()`` is one line for a person.

    ``raw`` is the line as it is in the file, without its end; only the first bytes of one
    that is too long, and empty where the file itself could not be read on.
    """

    path: Path
    line: int
    reason: str
    raw: bytes = field(default=b"", repr=False)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


def read_jsonl(
    path: Path | str, model: type[Row], *, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[Row | BadLine]:
    """The rows of a JSON lines file in order; blank lines are skipped.

    Gzip is told by its first bytes and not by the name. At most one line of at most
    ``max_line_bytes`` is held at a time. A broken gzip stream yields a last `BadLine`. Raises
    `OSError` where the file cannot be opened."""
    path = Path(path)
    with path.open("rb") as raw:
        stream = _decompressed(raw)
        number = 0
        try:
            for number, line in enumerate(_lines(stream, max_line_bytes), start=1):
                row = _row(path, number, line, model, max_line_bytes)
                if row is not None:
                    yield row
        except (EOFError, gzip.BadGzipFile, zlib.error):
            yield BadLine(path, number + 1, "the gzip stream is broken or cut short")


def read_objects(path: Path | str) -> Iterator[dict[str, Any] | BadLine]:
    """The rows of a file whose fields are not known beforehand, as `read_jsonl` gives them. Raises
    `OSError` where the file cannot be opened."""
    for row in read_jsonl(path, _Object):
        yield row if isinstance(row, BadLine) else row.root


def validation_summary(error: ValidationError) -> str:
    """``error`` in one line that names the fields and quotes nothing of what they held: the first,
    and a field that is not known, which may be the misspelt name of one that is missing."""
    first, *others = error.errors(include_url=False, include_input=False)
    unknown = next((one for one in others if one["type"] == "extra_forbidden"), None)
    said = [_fault(one) for one in (first, unknown) if one]
    more = len(others) - (unknown is not None)
    return "; ".join(said) + (f" (and {more} more)" if more else "")


def _fault(error: ErrorDetails) -> str:
    where = ".".join(map(str, error["loc"]))[:_MAX_FIELD_CHARACTERS]
    message = " ".join(error["msg"].split()).removeprefix("Value error, ")
    message = "unknown" if error["type"] == "extra_forbidden" else message
    return f"{where.encode('unicode_escape').decode()}: {message}" if where else message


def _decompressed(raw: BufferedReader) -> BinaryIO:
    packed = raw.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)  # a pipe cannot be read twice
    return gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[return-value]


def _lines(stream: BinaryIO, max_line_bytes: int) -> Iterator[bytes]:
    """Lines without their ends. One that is too long comes cut, one byte above the bound."""
    bound = max_line_bytes + 2  # a line of just the bound, with CRLF
    first = True
    while line := stream.readline(bound):
        if not line.endswith(b"\n") and len(line) == bound:
            while (rest := stream.readline(_SKIP_BYTES)) and not rest.endswith(b"\n"):
                pass
        content = line.removesuffix(b"\n").removesuffix(b"\r")
        yield content.removeprefix(_BYTE_ORDER_MARK) if first else content
        first = False


def _row(
    path: Path, number: int, line: bytes, model: type[Row], max_line_bytes: int
) -> Row | BadLine | None:
    if not line.strip():
        return None
    if len(line) > max_line_bytes:
        return BadLine(path, number, f"longer than {max_line_bytes} bytes", line[:max_line_bytes])
    try:
        line.decode()
        return model.model_validate_json(line)
    except UnicodeDecodeError as error:
        return BadLine(path, number, f"not UTF-8 at byte {error.start}", line)
    except ValidationError as error:
        reason = validation_summary(error)
        if reason.endswith(": unknown") and "meta" in model.model_fields:
            reason += '; columns of your own go into "meta"'
        return BadLine(path, number, reason, line)
