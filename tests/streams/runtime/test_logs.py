"""Logs carry ids, never a text."""

from __future__ import annotations

import io
import logging

import pytest
import structlog

from safepassage.streams.runtime.logs import OnceAMinute, configure_logging
from safepassage.streams.settings import Settings


def test_a_line_that_cannot_be_written_says_nothing_of_the_error_in_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The standard handler prints the tracebacks of both errors, with all that they say."""
    closed = io.StringIO()
    with monkeypatch.context() as for_now:
        for_now.setattr("sys.stderr", closed)
        configure_logging(Settings())
    closed.close()
    try:
        _fail()
    except RuntimeError:
        structlog.get_logger("tests").error("console_error")
        logging.getLogger("tests").error("another")  # noqa: TRY400 - not what is wanted here
    assert "secret" not in "".join(capsys.readouterr())


def test_a_library_line_is_said_once_a_minute_whatever_its_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr("safepassage.streams.runtime.logs.time.monotonic", lambda: now[0])
    once = OnceAMinute()

    def passes(name: str, message: str, *arguments: object) -> bool:
        return once.filter(logging.LogRecord(name, logging.ERROR, "", 1, message, arguments, None))

    assert passes("aiokafka", "Unable connect to node with id %s", 1)
    assert not passes("aiokafka", "Unable connect to node with id %s", 2)
    assert passes("aiokafka.consumer", "Failed fetch messages from %s", 1)
    assert passes("safepassage.streams.worker", "role_stopped")
    assert passes("safepassage.streams.worker", "role_stopped")
    now[0] += 61
    assert passes("aiokafka", "Unable connect to node with id %s", 1)


def _fail() -> None:
    raise RuntimeError("the document says: secret")
