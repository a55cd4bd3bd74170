"""Login by OpenID Connect, against a provider that runs here."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from pydantic import SecretStr

from safepassage.schemas import ReviewerLogin
from safepassage.streams.console.login.oidc import is_private
from safepassage.streams.topics import REVIEWS
from tests.streams.console.cases import verdict
from tests.streams.console.provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    OTHER_KEY,
    Provider,
    running_provider,
)
from tests.streams.console.web.test_app import Console, opened

URL = "http://127.0.0.1"
REDIRECT = f"{URL}/login/callback"


@pytest.fixture(scope="module")
def one_provider() -> Iterator[Provider]:
    with running_provider(REDIRECT) as found:
        yield found


@pytest.fixture
def provider(one_provider: Provider) -> Provider:
    fresh = Provider(REDIRECT)
    kept = {"issuer": one_provider.issuer, "named": one_provider.issuer}
    for name, value in (vars(fresh) | kept).items():
        setattr(one_provider, name, value)
    return one_provider


@pytest.fixture
def console(provider: Provider) -> Iterator[Console]:
    with opened(Console(**oidc(provider))) as made:
        yield made


def oidc(provider: Provider, **changes: Any) -> dict[str, Any]:
    return {
        "console_login": "oidc",
        "console_token": None,
        "console_url": URL,
        "console_oidc_issuer": provider.issuer,
        "console_oidc_client_id": CLIENT_ID,
        "console_oidc_client_secret": SecretStr(CLIENT_SECRET),
        "console_reviewer_groups": "reviewers",
        "console_lead_groups": "leads",
    } | changes


def begun(console: Console, target: str = "") -> str:
    """Press the button of the login page, log in at the provider; where it sends the browser."""
    start = console.browser.get("/login/start", params={"next": target}, follow_redirects=False)
    assert start.status_code == 303, start.text
    back = httpx2.get(start.headers["location"], follow_redirects=False)
    assert back.status_code == 302, back.text
    assert back.headers["location"].startswith(REDIRECT)
    return back.headers["location"].removeprefix(URL)


def came_in(console: Console, target: str = "") -> httpx2.Response:
    return console.browser.get(begun(console, target), follow_redirects=False)


def is_in(console: Console) -> bool:
    return console.browser.get("/measures", follow_redirects=False).status_code == 200


def test_a_person_logs_in_and_the_review_proves_who_it_was(
    console: Console, provider: Provider
) -> None:
    provider.person |= {"groups": ["everybody", "reviewers"]}
    console.add(verdict(1), "On the day 1 the panel sat.")
    answer = came_in(console)
    assert answer.status_code == 200
    assert 'http-equiv="refresh" content="0;url=/review"' in answer.text
    assert console.decide(console.page(), decision="supports").status_code == 303
    (review,) = console.publisher.to(REVIEWS)
    assert review.reviewer == "Ana Reyes"
    assert review.login == ReviewerLogin(way="oidc", subject="sub-ana", issuer=provider.issuer)
    assert review.login.proven


def test_the_cookies_are_strict_but_for_that_of_the_attempt(console: Console) -> None:
    start = console.browser.get("/login/start", follow_redirects=False)
    attempt = start.headers["set-cookie"]
    assert "samesite=lax" in attempt.lower()
    assert "httponly" in attempt.lower()
    assert "path=/login/callback" in attempt.lower()
    session = came_in(console).headers.get_list("set-cookie")
    assert any("samesite=strict" in cookie.lower() for cookie in session)


def test_behind_tls_no_cookie_goes_in_the_open(provider: Provider) -> None:
    with opened(Console(**oidc(provider, console_url="https://review.example.org"))) as console:
        for path in ("/login", "/login/start"):
            answer = console.browser.get(path, follow_redirects=False)
            assert "; secure" in answer.headers["set-cookie"].lower()


def test_every_attempt_has_its_own_state_nonce_and_challenge(
    console: Console, provider: Provider
) -> None:
    for _ in range(2):
        begun(console)
    first, second = provider.asked
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name]) >= 43
        assert first[name] != second[name]
    assert first["code_challenge_method"] == "S256"


SPOILT = {
    "wrong nonce": {"spoilt": {"nonce": "another"}},
    "no nonce": {"left_out": ("nonce",)},
    "wrong audience": {"spoilt": {"aud": "another client"}},
    "wrong audience, for us as the party": {"spoilt": {"aud": "another", "azp": CLIENT_ID}},
    "no audience": {"left_out": ("aud",)},
    "another party's among several audiences": {
        "spoilt": {"aud": [CLIENT_ID, "another"], "azp": "another"}
    },
    "wrong issuer": {"spoilt": {"iss": "https://id.example.org"}},
    "expired": {"spoilt": {"exp": int(time.time()) - 3_600, "iat": int(time.time()) - 7_200}},
    "no expiry": {"left_out": ("exp",)},
    "not yet valid": {"spoilt": {"nbf": int(time.time()) + 3_600}},
    "wrong signature": {"key": OTHER_KEY},
    "algorithm none": {"algorithm": "none"},
    "a MAC with the public key": {"algorithm": "HS256"},
    "no subject": {"left_out": ("sub",)},
    "a subject that is no text": {"spoilt": {"sub": 7}},
    "a subject without end": {"spoilt": {"sub": "x" * 10_000}},
}


@pytest.mark.parametrize("how", SPOILT)
def test_an_id_token_that_does_not_hold_lets_nobody_in(
    console: Console, provider: Provider, how: str
) -> None:
    for name, value in SPOILT[how].items():
        setattr(provider, name, value)
    assert came_in(console).status_code == 403
    assert not is_in(console)


def test_the_state_of_another_browser_lets_nobody_in(console: Console, provider: Provider) -> None:
    """An attacker's own code, brought to somebody else's browser."""
    with opened(Console(**oidc(provider))) as attacker:
        theirs = begun(attacker)
    begun(console)
    assert console.browser.get(theirs, follow_redirects=False).status_code == 403
    assert not is_in(console)


@pytest.mark.parametrize("change", ["no cookie", "no state", "two states", "another issuer"])
def test_a_callback_that_was_not_begun_here_lets_nobody_in(console: Console, change: str) -> None:
    path = begun(console)
    if change == "no cookie":
        console.browser._client.cookies.clear()
    elif change == "no state":
        path = re.sub(r"&state=[^&]*", "", path)
    elif change == "two states":
        path += "&state=another"
    else:
        path = re.sub(r"&iss=[^&]*", "&iss=https://id.example.org", path)
    assert console.browser.get(path, follow_redirects=False).status_code == 403
    assert not is_in(console)


def test_a_code_serves_once(console: Console) -> None:
    path = begun(console)
    cookies = dict(console.browser._client.cookies)
    assert console.browser.get(path, follow_redirects=False).status_code == 200
    console.browser._client.cookies.clear()
    console.browser._client.cookies.update(cookies)
    assert console.browser.get(path, follow_redirects=False).status_code == 403


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/%09/evil\t",
        "\x00",
    ],
)
def test_the_way_back_leads_nowhere_else(console: Console, target: str) -> None:
    answer = came_in(console, target)
    assert 'content="0;url=/review"' in answer.text
    assert "evil" not in answer.text
    assert "javascript" not in answer.text


def test_the_way_back_to_a_case_is_kept(console: Console) -> None:
    assert 'content="0;url=/cases/abc"' in came_in(console, "/cases/abc").text


def test_a_new_key_of_the_provider_is_asked_for(console: Console, provider: Provider) -> None:
    assert came_in(console).status_code == 200
    second = type(OTHER_KEY).import_key(OTHER_KEY.as_dict(private=True) | {"kid": "second"})
    provider.key, provider.published = second, [second]
    assert came_in(console).status_code == 200


@pytest.mark.parametrize(
    ("groups", "path", "status"),
    [
        ([], "/measures", 200),
        ([], "/agreement", 403),
        (["reviewers"], "/review", 200),
        (["reviewers"], "/agreement", 403),
        ("leads", "/agreement", 200),
        (["reviewers", "leads"], "/agreement", 200),
        ({"leads": True}, "/agreement", 403),
        ([["leads"], 7, None], "/agreement", 403),
    ],
)
def test_groups_give_the_role_and_without_one_the_least(
    console: Console, provider: Provider, groups: object, path: str, status: int
) -> None:
    provider.person |= {"groups": groups}
    came_in(console)
    assert console.browser.get(path, follow_redirects=False).status_code == status


def test_where_readers_are_named_others_stay_out(provider: Provider) -> None:
    settings = oidc(provider, console_reader_groups="audit", console_groups_claim="realm.roles")
    with opened(Console(**settings)) as console:
        provider.person |= {"realm": {"roles": ["sales"]}}
        assert came_in(console).status_code == 403
        provider.person |= {"realm": {"roles": ["audit"]}}
        assert came_in(console).status_code == 200


def test_a_name_that_cannot_be_shown_gives_way_to_the_subject(
    console: Console, provider: Provider
) -> None:
    provider.person["preferred_username"] = "Ana\u202e"
    came_in(console)
    assert "sub-ana" in console.page("/measures")


def test_there_is_no_token_to_try_here(console: Console) -> None:
    page = console.browser.get("/login").text
    assert 'name="token"' not in page
    assert "/login/start" in page
    csrf = re.search(r'name="csrf" value="([^"]*)"', page)
    form = {"reviewer": "Ana", "token": CLIENT_SECRET, "csrf": csrf[1] if csrf else ""}
    answer = console.browser.post("/login", data=form, follow_redirects=False)
    assert answer.status_code == 403
    assert not is_in(console)


def test_a_provider_that_is_down_says_so_and_lets_nobody_in(provider: Provider) -> None:
    with opened(Console(**oidc(provider, console_oidc_issuer="http://127.0.0.1:9"))) as console:
        answer = console.browser.get("/login/start", follow_redirects=False)
        assert answer.status_code == 403
        assert "does not answer" in answer.text


def test_the_secret_goes_to_the_provider_alone(console: Console) -> None:
    start = console.browser.get("/login/start", follow_redirects=False)
    asked = parse_qs(urlsplit(start.headers["location"]).query)
    assert CLIENT_SECRET not in str(asked)
    assert "code_verifier" not in asked


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("https://id.example.org", True),
        ("http://localhost:8080/realms/a", True),
        ("http://id.example.org", False),
        ("ftp://localhost", False),
        ("https://", False),
        ("", False),
    ],
)
def test_nothing_is_asked_for_in_the_open(address: str, private: bool) -> None:
    assert is_private(address) is private
