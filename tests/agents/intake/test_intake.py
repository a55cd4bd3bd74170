"""The process that reads files: whatever becomes of it, the next file is read."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from safepassage.agents.intake.intake import Intake
from safepassage.agents.intake.limits import Limits, Refused
from tests.agents.intake.making import lines, pdf

TEXT = "The monthly rent is £1,250."
LIMITS = Limits(ocr="never")


@contextmanager
def open_files(count: int) -> Iterator[None]:
    """Holds ``count`` descriptors, so that new ones have higher numbers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"the system allows {hard} open files")
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        for _ in range(count):
            stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        yield


def text_of(intake: Intake) -> list[str]:
    return [part.text for part in intake.read("a.pdf", pdf(lines(TEXT))).parts]


def test_files_are_read_one_after_another_in_one_process() -> None:
    with Intake(LIMITS) as intake:
        assert text_of(intake) == [TEXT]
        process = intake._process
        assert intake.read("a.pdf", b"%PDF-1.4 nothing").refused
        assert text_of(intake) == [TEXT]
        assert intake._process is process
    assert intake._process is None
    assert process is not None
    assert process.poll() is not None


def test_files_are_read_in_a_process_that_has_a_thousand_others_open() -> None:
    with open_files(1_100), Intake(LIMITS) as intake:
        assert text_of(intake) == [TEXT]
        assert intake._process is not None
        assert intake._process.stdout is not None
        assert intake._process.stdout.fileno() >= 1_024


def test_a_process_that_dies_costs_its_file_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with Intake(LIMITS) as intake:
        running = intake._running

        def killed() -> subprocess.Popen[bytes]:
            process = running()
            process.kill()
            process.wait()
            return process

        with monkeypatch.context() as patched:
            patched.setattr(intake, "_running", killed)
            (refused,) = intake.read("a.pdf", pdf(lines(TEXT))).refused
        assert refused.reason == "ended the process that read it (-9)"
        assert text_of(intake) == [TEXT]


def test_a_file_that_takes_too_long_is_refused() -> None:
    with Intake(Limits(ocr="never", seconds=0.001)) as intake:
        (refused,) = intake.read("a.pdf", pdf(lines(TEXT))).refused
    assert "not read within" in refused.reason


def test_a_file_that_needs_too_much_memory_is_refused() -> None:
    huge = b"<html>" + b"<p>x</p>" * 8_000_000
    with Intake(Limits(ocr="never", memory_bytes=400 * 2**20)) as intake:
        (refused,) = intake.read("a.html", huge).refused
        assert re.search("memory|ended the process|cannot be read", refused.reason)
        assert text_of(intake) == [TEXT]


def test_the_process_has_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with Intake(LIMITS) as intake:
        text_of(intake)
        assert intake._process is not None
        environment = Path(f"/proc/{intake._process.pid}/environ").read_bytes()
        assert b"PATH=" in environment
        assert b"secret" not in environment


def test_a_page_is_drawn() -> None:
    with Intake(LIMITS) as intake:
        assert intake.picture(pdf(lines(TEXT)), (), 0).startswith(b"\x89PNG")
        for page, part in ((1, ()), (0, (1,))):
            with pytest.raises(Refused):
                intake.picture(pdf(lines(TEXT)), part, page)
        with pytest.raises(Refused, match="no pages"):
            intake.picture(b"<html><p>x</p>", (), 0)


def test_a_file_that_is_too_large_is_not_even_sent() -> None:
    with Intake(Limits(file_bytes=10)) as intake:
        (refused,) = intake.read("a.pdf", b"x" * 11).refused
        assert "at most 10" in refused.reason
        assert intake._process is None
