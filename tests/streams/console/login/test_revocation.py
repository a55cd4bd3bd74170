"""A line in a file ends a person's sessions at the next request."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from safepassage.schemas import ReviewerLogin
from safepassage.streams.console.login.modes import Revocations
from tests.streams.console.web.test_app import Console, opened

ANA = ReviewerLogin(way="oidc", subject="Sub-Ana", issuer="https://id.example.org")
BEN = ReviewerLogin(way="oidc", subject="sub-ben", issuer="https://id.example.org")


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "revoked"
    path.write_text("")
    return path


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # However coarse the clock of the file system is.
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1_000_000_000))


def test_a_line_counts_at_once_and_as_long_as_it_is_there(listed: Path) -> None:
    revocations = Revocations(listed)
    assert not revocations.revoked(ANA)
    write(listed, "# left us\nsub-ana  # on Monday\n\n")
    assert revocations.revoked(ANA)
    assert not revocations.revoked(BEN)
    write(listed, "")
    assert not revocations.revoked(ANA)


def test_a_file_that_another_one_replaces_is_read_again(listed: Path, tmp_path: Path) -> None:
    revocations = Revocations(listed)
    assert not revocations.revoked(BEN)
    other = tmp_path / "other"
    other.write_text("sub-ben\n")
    other.replace(listed)
    assert revocations.revoked(BEN)


@pytest.mark.parametrize("harm", ["gone", "a folder", "no UTF-8"])
def test_while_the_file_cannot_be_read_nobody_is_in(listed: Path, harm: str) -> None:
    revocations = Revocations(listed)
    assert not revocations.revoked(ANA)
    listed.unlink()
    if harm == "a folder":
        listed.mkdir()
    elif harm == "no UTF-8":
        listed.write_bytes(b"\xff\xfe\xfa")
    assert revocations.revoked(ANA)
    assert revocations.check()


def test_without_a_file_nobody_is_revoked() -> None:
    assert not Revocations(None).revoked(ANA)


def test_the_next_request_of_a_revoked_person_finds_no_session(listed: Path) -> None:
    with opened(Console(console_revoked=listed)) as console:
        console.login("Ana")
        page = console.page("/measures")
        write(listed, "ana\n")
        answer = console.browser.get("/measures", follow_redirects=False)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login")
        assert "Reviewing as" in page
        assert console.login("Ana").status_code == 403
        assert console.login("Ben").status_code == 303
