"""`Intake`: files in, documents out, even if a file crashes the process that reads it."""

import os
import subprocess
import sys
import threading
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from pydantic import ValidationError

from .file_documents import Imported
from .limits import Limits, Refused
from .reader_process import DOCUMENTS, PICTURE, REFUSAL, Request, failed

_HEAD_BYTES = 20
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
            try:
                process = self._running()
            except OSError as error:
                raise Refused(f"got no process to be read in ({error.strerror})") from None
            late = threading.Event()
            watch = threading.Timer(self.limits.seconds, _stop, (process, late))
            watch.start()
            try:
                answer = _exchange(process, request.model_dump_json().encode() + b"\n" + raw)
            except (OSError, ValueError):
                answer = b""
            finally:
                watch.cancel()
                watch.join()
            if late.is_set():
                self._end()
                raise Refused(f"was not read within {self.limits.seconds:g} s")
            if not answer:
                raise Refused(f"ended the process that read it ({self._end()})")
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
        return self._process

    def _end(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        with suppress(OSError), process:  # which closes the pipes, and waits
            pass
        return process.wait()


def _stop(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


def _exchange(process: subprocess.Popen[bytes], request: bytes) -> bytes:
    """The answer. Raises `OSError` or `ValueError` where the process ended, or does not keep to the
    form."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("the process has no such stream")
    process.stdin.write(request)
    process.stdin.flush()
    size = int(process.stdout.readline(_HEAD_BYTES))
    answer = process.stdout.read(size) if 0 <= size <= _ANSWER_BYTES else b""
    if len(answer) < size:
        raise ValueError("no answer of that form")
    return answer
