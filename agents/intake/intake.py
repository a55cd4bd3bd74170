"""`Intake`: files in, documents out, even if a file crashes the process that reads it."""

import os
import selectors
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from .file_documents import Imported
from .limits import Limits, Refused
from .reader_process import DOCUMENTS, PICTURE, REFUSAL, Request, failed

_CHUNK = 64 * 1024
_ANSWER_BYTES = 256 * 2**20
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "OMP_NUM_THREADS", "LD_LIBRARY_PATH")
_ROOT = Path(__file__).parents[3]


class Intake(AbstractContextManager["Intake"]):
    """Reads files in a process of its own, which is bounded, has none of this one's secrets, and
    is started again whenever a file was its end. Safe to share between threads: one file at a
    time.

    Use it as a context manager, or `close` it.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def __exit__(self, *_error: object) -> None:
        self.close()

    def read(self, name: str, raw: bytes) -> Imported:
        """The documents of a file, and what of it gave none. Raises nothing for any file."""
        try:
            answer = self._ask(Request(name=name, size=len(raw), limits=self.limits), raw)
            if answer[:1] == DOCUMENTS:
                return Imported.model_validate_json(answer[1:])
        except Refused as refusal:
            return failed(str(refusal))
        except ValidationError:
            return failed("gave what is no document")
        return failed(answer[1:].decode("utf-8", "replace"))

    def picture(self, raw: bytes, part: tuple[int, ...], page: int) -> bytes:
        """Page ``page`` (from 0) of a file, or of its attachment ``part``, as PNG. Raises `Refused`
        where it has no such page, or cannot be drawn."""
        request = Request(name="", size=len(raw), limits=self.limits, page=page, part=part)
        answer = self._ask(request, raw)
        if answer[:1] != PICTURE:
            raise Refused(answer[1:].decode("utf-8", "replace"))
        return answer[1:]

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _ask(self, request: Request, raw: bytes) -> bytes:
        if len(raw) > self.limits.file_bytes:
            raise Refused(f"has {len(raw)} bytes; at most {self.limits.file_bytes} are read")
        with self._lock:
            deadline = time.monotonic() + self.limits.seconds
            try:
                process = self._running()
                _write(process, request.model_dump_json().encode() + b"\n" + raw, deadline)
                answer = _read(process, deadline)
            except TimeoutError:
                self._end()
                raise Refused(f"was not read within {self.limits.seconds:g} s") from None
            except (OSError, ValueError):
                code = self._end()
                raise Refused(f"ended the process that read it ({code})") from None
            if answer[:1] not in (DOCUMENTS, PICTURE, REFUSAL):
                self._end()
                raise Refused("gave an answer that cannot be read")
            return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [
                    sys.executable,
                    "-m",
                    "safepassage.agents.intake.reader_process",
                    str(self.limits.memory_bytes),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=kept | {"PYTHONPATH": str(_ROOT)},
                cwd="/",
                close_fds=True,
            )
            for pipe in (self._process.stdin, self._process.stdout):
                os.set_blocking(_descriptor(pipe), False)
        return self._process

    def _end(self) -> int | None:
        """Kill the process, if there is one; returns how it ended."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:
                    continue
        return process.wait()


def _write(process: subprocess.Popen[bytes], content: bytes, deadline: float) -> None:
    pipe = _descriptor(process.stdin)
    view = memoryview(content)
    while view:
        _wait(deadline, pipe, selectors.EVENT_WRITE)
        view = view[os.write(pipe, view[:_CHUNK]) :]


def _read(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """One answer. Raises `TimeoutError` where it did not come in time; `ValueError` where the
    process ended, or does not keep to the form."""
    pipe = _descriptor(process.stdout)
    buffer = bytearray()
    wanted = -1
    while wanted < 0 or len(buffer) < wanted:
        _wait(deadline, pipe, selectors.EVENT_READ)
        if not (chunk := os.read(pipe, _CHUNK)):
            raise ValueError("the process ended")
        buffer += chunk
        if wanted < 0 and b"\n" in buffer[:20]:
            head, _, rest = bytes(buffer).partition(b"\n")
            wanted, buffer = int(head), bytearray(rest)
        if (wanted < 0 and len(buffer) >= 20) or wanted > _ANSWER_BYTES:
            raise ValueError("no answer of that form")
    return bytes(buffer[:wanted])


def _wait(deadline: float, pipe: int, event: int) -> None:
    # Not `select.select`: it takes no descriptor from 1024 on, and a busy server has more open.
    with selectors.PollSelector() as selector:
        selector.register(pipe, event)
        left = deadline - time.monotonic()
        if left <= 0 or not selector.select(left):
            raise TimeoutError


def _descriptor(pipe: IO[bytes] | None) -> int:
    if pipe is None:
        raise ValueError("the process has no such stream")
    return pipe.fileno()
