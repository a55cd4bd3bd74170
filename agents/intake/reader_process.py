"""The process that touches files: bounded in memory, without files of its own to write, and
expected to die. It answers one request after another on its standard streams.

A request is a line of JSON (`Request`) and then as many bytes as it says; an answer is a line
with a number of bytes and then those bytes. Nothing else comes from it that anyone reads.
"""

import os
import resource
import sys
from typing import BinaryIO

from safepassage.schemas import Contract

from .file_documents import Imported, RefusedPart
from .file_import import read_file
from .limits import Limits, Refused
from .pictures import picture


class Request(Contract):
    """Read a file of ``size`` bytes called ``name``; or, with ``page``, draw that page of its
    part ``part``."""

    name: str
    size: int
    limits: Limits
    page: int | None = None
    part: tuple[int, ...] = ()


PICTURE, REFUSAL, DOCUMENTS = b"P", b"R", b"D"
"""The first byte of an answer: a PNG, a reason in UTF-8, or `Imported` as JSON."""


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more requests."""
    while line := requests.readline():
        request = Request.model_validate_json(line)
        raw = requests.read(request.size)
        answer = _answer(request, raw)
        answers.write(b"%d\n" % len(answer))
        answers.write(answer)
        answers.flush()


def _answer(request: Request, raw: bytes) -> bytes:
    try:
        if request.page is not None:
            return PICTURE + picture(raw, request.part, request.page, request.limits)
        return DOCUMENTS + read_file(request.name, raw, request.limits).model_dump_json().encode()
    except Refused as refusal:
        return REFUSAL + str(refusal).encode()
    except MemoryError:
        return REFUSAL + b"needs more memory than one file may have"
    except Exception as error:  # noqa: BLE001 - libraries of others, on hostile files
        # Only the class is told: a message may quote the file.
        return REFUSAL + f"cannot be read ({type(error).__name__})".encode()


def failed(reason: str) -> Imported:
    """What a file gives that cost its process."""
    return Imported(refused=(RefusedPart(reason=reason),))


def _confine(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def main() -> None:
    """Serve on the standard streams; argument 1 is the bound on memory, in bytes."""
    _confine(int(sys.argv[1]))
    # Libraries print to standard output as they like: the answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
