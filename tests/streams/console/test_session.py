"""Sessions, tokens, names."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import ReviewerLogin
from safepassage.streams.console.session import (
    ATTEMPT_SECONDS,
    SESSION_SECONDS,
    GuessLimit,
    Sessions,
    client_key,
    reviewer_name,
)

TOKEN = "a token"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_sealed_session_opens_again_also_in_the_next_process() -> None:
    session = Sessions(TOKEN).new("Ana")
    assert Sessions(TOKEN).open(Sessions(TOKEN).seal(session)) == session


def test_another_token_opens_no_old_session() -> None:
    assert Sessions("another").open(Sessions(TOKEN).seal(Sessions(TOKEN).new("Ana"))) is None


def test_nobody_becomes_another_reviewer_by_editing_the_cookie() -> None:
    sessions = Sessions(TOKEN)
    payload, _, signature = sessions.seal(sessions.new("Ana")).partition(".")
    for changed in ({"reviewer": "Ben"}, {"role": "lead"}):
        fields = json.loads(base64.urlsafe_b64decode(payload)) | changed
        forged = base64.urlsafe_b64encode(json.dumps(fields).encode()).decode()
        assert sessions.open(f"{forged}.{signature}") is None


def test_a_cookie_of_an_earlier_version_is_no_session() -> None:
    sessions = Sessions(TOKEN)
    payload = base64.urlsafe_b64encode(b'["id", "Ana", 99999999999]').decode()
    assert sessions.open(f"{payload}.{sessions._sign('Session', payload)}") is None


def test_a_login_attempt_is_no_session_has_its_own_secrets_and_ends() -> None:
    clock = Clock()
    sessions = Sessions(TOKEN, clock)
    first, second = sessions.attempt("/review"), sessions.attempt("/review")
    assert {first.state, first.nonce, first.verifier}.isdisjoint(
        {second.state, second.nonce, second.verifier}
    )
    cookie = sessions.seal(first)
    assert sessions.open_attempt(cookie) == first
    assert sessions.open(cookie) is None
    clock.now += ATTEMPT_SECONDS + 1
    assert sessions.open_attempt(cookie) is None


def test_a_signature_names_who_it_is_and_fits_a_record() -> None:
    login = ReviewerLogin(way="oidc", subject="s" * 255, issuer="https://id.example.org")
    assert Sessions(TOKEN).new("Ana").signature == "Ana"
    proven = Sessions(TOKEN).new("Ana", "lead", login).signature
    assert proven.startswith("Ana (oidc: sss")
    assert len(proven) == 200


def test_roles_rank_and_nobody_has_none() -> None:
    sessions = Sessions(TOKEN)
    assert not sessions.new(role="lead").may("reader")
    assert not sessions.new("Ana").may("reviewer")
    assert sessions.new("Ana", "reviewer").may("reader")
    assert not sessions.new("Ana", "reviewer").may("lead")
    assert sessions.new("Ana", "lead").may("reviewer")


def test_a_session_ends() -> None:
    clock = Clock()
    sessions = Sessions(TOKEN, clock)
    cookie = sessions.seal(sessions.new("Ana"))
    clock.now += SESSION_SECONDS + 1
    assert sessions.open(cookie) is None


@given(st.text())
def test_no_text_is_a_session(cookie: str) -> None:
    assert Sessions(TOKEN).open(cookie) is None


def test_a_csrf_token_is_of_one_session_and_is_no_session_signature() -> None:
    sessions = Sessions(TOKEN)
    ana, ben = sessions.new("Ana"), sessions.new("Ben")
    assert sessions.csrf_matches(ana, sessions.csrf(ana))
    assert not sessions.csrf_matches(ben, sessions.csrf(ana))
    assert sessions.csrf(ana) not in sessions.seal(ana)


def test_whoever_guesses_waits_a_minute_and_others_do_not() -> None:
    clock = Clock()
    limit = GuessLimit(clock)
    for _ in range(10):
        assert not limit.exceeded("1.1.1.1")
        limit.failed("1.1.1.1")
    assert limit.exceeded("1.1.1.1")
    assert not limit.exceeded("2.2.2.2")
    clock.now += 61
    assert not limit.exceeded("1.1.1.1")


def test_guessers_are_remembered_in_bounded_memory() -> None:
    limit = GuessLimit(Clock())
    for number in range(5_000):
        for _ in range(20):
            limit.failed(f"10.0.{number // 256}.{number % 256}")
    assert len(limit._failures) == 1_000
    assert max(map(len, limit._failures.values())) == 10


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::2", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%" + "x" * 10_000, "fe80::/64"),
        ("x" * 10_000, ""),
        ("", ""),
    ],
)
def test_a_client_cannot_be_many(host: str, key: str) -> None:
    assert client_key(host) == key


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("  Ana   Reyes ", "Ana Reyes"),
        ("Ame\u0301lie", "Am\u00e9lie"),
        ("", None),
        ("   ", None),
        ("x" * 61, None),
        ("Ana\u202e", None),
        ("Ana\x07", None),
    ],
)
def test_a_person_has_one_spelling_and_no_tricks(typed: str, name: str | None) -> None:
    assert reviewer_name(typed) == name
