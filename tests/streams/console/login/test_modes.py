"""One way of login is configured; anything else is said at the start, with what to do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.streams.console.login.modes import TokenLogin, login_of
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from tests.streams.console.provider import running_provider

TOKEN = "a token"
OIDC: dict[str, Any] = {
    "console_login": "oidc",
    "console_oidc_issuer": "https://id.example.org",
    "console_oidc_client_id": "console",
    "console_url": "https://review.example.org",
    "console_reviewer_groups": "reviewers",
}
PROXY: dict[str, Any] = {
    "console_login": "proxy",
    "console_user_header": "X-User",
    "console_groups_header": "X-Groups",
    "console_proxies": "10.0.0.5",
    "console_secret": "s",
    "console_lead_groups": "leads",
}


@given(st.text())
def test_only_the_token_is_the_token(given_token: str) -> None:
    assert TokenLogin(TOKEN, "lead").matches(given_token) == (given_token.strip() == TOKEN)


def test_without_a_token_one_is_made_and_shown() -> None:
    first, second = login_of(Settings()), login_of(Settings())
    assert first.shown
    assert first.shown != second.shown
    assert isinstance(first.way, TokenLogin)
    assert first.way.matches(first.shown)
    assert login_of(Settings(console_token=TOKEN)).shown is None


@pytest.mark.parametrize("settings", [{}, {"console_role": "reader"}, OIDC, PROXY])
def test_a_clear_configuration_is_taken(settings: dict[str, Any]) -> None:
    assert login_of(Settings(**settings)).secret


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"console_login": "oidc"}, "OIDC_ISSUER and .*OIDC_CLIENT_ID and .*CONSOLE_URL"),
    (OIDC | {"console_token": TOKEN}, "CONSOLE_TOKEN belong .* unset them, or set .*LOGIN=token"),
    (PROXY | {"console_oidc_issuer": "https://x.org"}, "OIDC_ISSUER belong .*LOGIN=oidc"),
    ({"console_user_header": "X-User"}, "USER_HEADER belong .* set .*LOGIN=proxy"),
    ({"console_lead_groups": "leads"}, "LEAD_GROUPS need a login that names groups"),
    ({"console_approvals": 2}, "APPROVALS needs names that are proven"),
    (OIDC | {"console_role": "reader"}, "ROLE is for the shared token"),
    (OIDC | {"console_reviewer_groups": ""}, "nobody could decide"),
    (OIDC | {"console_oidc_issuer": "http://id.example.org"}, "OIDC_ISSUER has to be an https"),
    (OIDC | {"console_url": "http://review.example.org"}, "CONSOLE_URL has to be an https"),
    (OIDC | {"console_oidc_scopes": "profile"}, "OIDC_SCOPES has to hold openid"),
    (PROXY | {"console_proxies": ""}, "CONSOLE_PROXIES"),
    (PROXY | {"console_groups_header": None}, "GROUPS_HEADER"),
    (PROXY | {"console_secret": None}, "set SAFEPASSAGE_CONSOLE_SECRET"),
    (PROXY | {"console_secret": None, "console_proxies": "127.0.0.1,10.0.0.5"}, "CONSOLE_SECRET"),
    ({"console_revoked": Path("/nowhere/at/all")}, "REVOKED=/nowhere/at/all cannot be read"),
]


@pytest.mark.parametrize(("settings", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_a_contradiction_is_said_at_the_start(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(OperatorError, match=said):
        login_of(Settings(**settings))


def test_a_missing_extra_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "safepassage.streams.console.login.oidc", raising=False)
    monkeypatch.setitem(sys.modules, "authlib.oidc.core", None)
    with pytest.raises(OperatorError, match=r"pip install 'safepassage\[oidc\]'"):
        login_of(Settings(**OIDC))


async def test_a_provider_of_another_name_is_said_at_the_start() -> None:
    with running_provider("http://127.0.0.1/login/callback") as provider:
        changes = {"console_oidc_issuer": provider.issuer, "console_url": "http://127.0.0.1"}
        login = login_of(Settings(**OIDC | changes))
        provider.named = "https://id.example.org"
        with pytest.raises(OperatorError, match="set SAFEPASSAGE_CONSOLE_OIDC_ISSUER to the text"):
            await login.way.check()
        provider.named = provider.issuer
        await login.way.check()


async def test_a_provider_that_is_down_at_the_start_stops_nothing() -> None:
    await login_of(Settings(**OIDC | {"console_oidc_issuer": "http://127.0.0.1:9"})).way.check()
