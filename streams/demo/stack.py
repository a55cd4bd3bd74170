"""The whole stack on one machine: embedded servers, a recorded LLM, one process per role."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ..runtime.errors import OperatorError
from ..runtime.signals import die_with_parent
from ..settings import Settings
from . import corpus
from .embedded import LOOPBACK, embedded_stack, free_port, stop_process

STOP_TIMEOUT_SECONDS = 30.0
SHOWN_LOG_LINES = 12
LAST_LOGS = Path(tempfile.gettempdir(), f"safepassage-last-{os.getuid()}")
"""The logs of the run that ended last."""
SAYS = "safepassage: "  # before the one line of an expected failure


class ChildFailed(OperatorError):
    """A process of the stack ended by itself; the message says what it said last."""


class Processes(AbstractContextManager["Processes"]):
    """The ``safepassage`` commands that run beside this one, each with a log file."""

    def __init__(
        self,
        environment: Mapping[str, str],
        logs: Path,
        broker: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self._broker = broker
        self._environment = {**os.environ, **environment}
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._files = ExitStack()

    def start(self, name: str, *arguments: str, **variables: str) -> None:
        """Start ``safepassage`` with ``arguments``, and ``variables`` beside the environment of
        all. Its session is its own, so that Ctrl-C reaches only this process, which then ends the
        others in order."""
        log = self._files.enter_context((self._logs / f"{name}.log").open("ab"))
        self._running[name] = subprocess.Popen(  # noqa: S603 - our own command, no shell
            [sys.executable, "-m", "safepassage", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=self._environment | variables,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, no locks
        )

    def stop(self, name: str) -> None:
        process = self._running.pop(name)
        process.terminate()
        stop_process(process, STOP_TIMEOUT_SECONDS)

    def check(self) -> None:
        """Raise `ChildFailed` if a process ended, or the broker without which all will."""
        if self._broker and self._broker.poll() is not None:
            raise ChildFailed(
                f"the embedded broker ended {_how(self._broker)}. Its records were in its memory "
                "and are gone: start again, and submit the documents again"
            )
        for name, process in self._running.items():
            if process.poll() is not None:
                raise ChildFailed(
                    f"the {name} process ended {_how(process)}: {self._last_words(name)}"
                )

    def __exit__(self, *_error: object) -> None:
        for process in self._running.values():
            if process.poll() is None:
                process.terminate()
        for process in self._running.values():
            stop_process(process, STOP_TIMEOUT_SECONDS)
        self._files.close()

    def _last_words(self, name: str) -> str:
        """What a command says at its end, in words; where it could not, the end of its log."""
        lines = (self._logs / f"{name}.log").read_text("utf-8", "replace").splitlines()
        said = [line for line in lines[-SHOWN_LOG_LINES:] if line.startswith(SAYS)]
        if said:
            return said[-1].removeprefix(SAYS)
        return " | ".join(lines[-SHOWN_LOG_LINES:]) or "it said nothing"


def _how(ended: subprocess.Popen[bytes]) -> str:
    code = ended.returncode
    if code >= 0:
        return f"with code {code}"
    memory = ", perhaps for lack of memory" if code == -signal.SIGKILL else ""
    return f"by signal {-code} ({signal.Signals(-code).name}{memory})"


RECORDED_MODEL = "recorded"
CORPUS = (corpus.DOCUMENTS, corpus.EXTRACTIONS)


@dataclass(frozen=True, slots=True)
class RunningStack:
    """What reaches the servers, the processes that run the roles, and their logs' folder."""

    settings: Settings
    environment: dict[str, str]
    processes: Processes
    logs: Path


@contextmanager
def running_stack(
    roles: Sequence[str],
    environment: dict[str, str] | None = None,
    recording: tuple[Path, Path] | None = CORPUS,
) -> Iterator[RunningStack]:
    """Start everything, and stop it on the way out: at the end, on Ctrl-C, SIGTERM or failure.

    The recorded LLM answers from ``recording``, documents and extractions, unless that is None or
    OPENAI_BASE_URL names an endpoint.
    """
    with ExitStack() as running:
        logs = running.enter_context(_logs())
        servers = running.enter_context(embedded_stack())
        recorded: dict[str, str] = {}
        port = free_port()
        if recording and not os.environ.get("OPENAI_BASE_URL"):
            url = f"http://{LOOPBACK}:{port}/v1"
            recorded = {"OPENAI_BASE_URL": url, "SAFEPASSAGE_MODEL": RECORDED_MODEL}
        chosen = {**servers.environment(), **recorded, **(environment or {})}
        processes = running.enter_context(Processes(chosen, logs, servers.broker))
        if recording and recorded:
            given = [str(path) for path in recording]
            files = ("--documents", given[0], "--extractions", given[1])
            processes.start("recorded-llm", "recorded-llm", *files, "--port", str(port))
        for role in roles:
            processes.start(role, "worker", role)
        with _environment(chosen):
            settings = Settings()
        yield RunningStack(settings, chosen, processes, logs)


@contextmanager
def _logs() -> Iterator[Path]:
    """A folder for logs, which becomes `LAST_LOGS`; where it cannot, it stays where it is."""
    folder = Path(tempfile.mkdtemp(prefix="safepassage-"))
    try:
        yield folder
    finally:
        with suppress(OSError):
            shutil.rmtree(LAST_LOGS, ignore_errors=True)
            folder.rename(LAST_LOGS)


@contextmanager
def sigterm_unwinds() -> Iterator[None]:
    """Let SIGTERM unwind the stack like an exception, so that nothing is left running."""

    def leave(_signal: int, _frame: FrameType | None) -> None:
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, leave)
    # A shell without job control starts what runs in the background with SIGINT ignored.
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, interrupt)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
