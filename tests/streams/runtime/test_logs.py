"""Logs carry ids, never a text."""

from __future__ import annotations

import io
import logging

import pytest
import structlog

from streams.runtime.logs import configure_logging
from streams.settings import Settings


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


def _fail() -> None:
    raise RuntimeError("the document says: secret")
