"""Child processes of the stack: started like production's, ended whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from safepassage.streams.demo.embedded import die_with_parent, stop_process
from safepassage.streams.runtime.errors import OperatorError

STOP_TIMEOUT_SECONDS = 30.0
SHOWN_LOG_LINES = 12


class ChildFailed(OperatorError):
    """A process of the stack ended by itself; the message has the end of its log."""


class Processes(AbstractContextManager["Processes"]):
    """The ``safepassage`` commands that run beside this one, each with a log file."""

    def __init__(self, environment: Mapping[str, str], logs: Path) -> None:
        self._environment = {**os.environ, **environment}
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._files = ExitStack()

    def start(self, name: str, *arguments: str) -> None:
        """Start ``safepassage`` with ``arguments``. Its session is its own, so that Ctrl-C
        reaches only this process, which then ends the others in order."""
        log = self._files.enter_context((self._logs / f"{name}.log").open("wb"))
        self._running[name] = subprocess.Popen(  # noqa: S603 - our own command, no shell
            [sys.executable, "-m", "safepassage.streams.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=self._environment,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, no locks
        )

    def check(self) -> None:
        """Raise if a process ended.

        Raises:
            ChildFailed: one did.
        """
        for name, process in self._running.items():
            if process.poll() is not None:
                raise ChildFailed(
                    f"the {name} process ended with code {process.returncode}: {self._tail(name)}"
                )

    def __exit__(self, *_error: object) -> None:
        for process in self._running.values():
            if process.poll() is None:
                process.terminate()
        for process in self._running.values():
            stop_process(process, STOP_TIMEOUT_SECONDS)
        self._files.close()

    def _tail(self, name: str) -> str:
        lines = (self._logs / f"{name}.log").read_text("utf-8", "replace").splitlines()
        return " | ".join(lines[-SHOWN_LOG_LINES:])
