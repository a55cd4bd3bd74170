"""Login at another site and back, in Chromium, whose cookies are strict about it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from tests.streams.console.cases import verdict
from tests.streams.console.chromium import Hands, chromium
from tests.streams.console.provider import CLIENT_ID, CLIENT_SECRET, Provider, running_provider
from tests.streams.console.running import console_settings, put, reviews, running_console


def with_provider(settings: Settings, provider: Provider) -> Settings:
    changes = {
        "console_login": "oidc",
        "console_token": None,
        "console_url": f"http://127.0.0.1:{settings.console_port}",
        "console_oidc_issuer": provider.issuer,
        "console_oidc_client_id": CLIENT_ID,
        "console_oidc_client_secret": SecretStr(CLIENT_SECRET),
        "console_reviewer_groups": ("reviewers",),
    }
    return settings.model_copy(update=changes)


async def test_a_person_comes_back_from_the_provider_logged_in(
    kafka: Settings, tmp_path: Path
) -> None:
    """The provider is another site: "localhost" to the console's 127.0.0.1."""
    settings = console_settings(kafka)
    await put(settings, [verdict(1)])
    redirect = f"http://127.0.0.1:{settings.console_port}/login/callback"

    def log_in(browser: Chrome, address: str) -> None:
        hands = Hands(browser, address)
        hands.open("/cases/none")
        browser.find_element(By.ID, "log-in").click()
        hands.until(lambda: hands.has("agree"))
        browser.find_element(By.ID, "agree").click()
        hands.until(lambda: browser.current_url.startswith(f"{address}/cases/none"))
        hands.until(lambda: "There is no such case" in browser.page_source)
        hands.open("/review")
        hands.until(lambda: hands.has("supports"))
        assert "Ana Reyes" in browser.page_source
        hands.press_and_go("s")
        assert hands.says("Saved: supports")

    with running_provider(redirect, "localhost") as provider, chromium(tmp_path) as browser:
        provider.person |= {"groups": ["reviewers"]}
        provider.asks = True
        async with running_console(with_provider(settings, provider)) as address:
            await asyncio.to_thread(log_in, browser, address)
    (made,) = await reviews(settings)
    assert made.login is not None
    assert (made.login.subject, made.login.issuer) == ("sub-ana", provider.issuer)


async def test_the_role_does_not_start_with_settings_of_two_ways(kafka: Settings) -> None:
    settings = console_settings(kafka, console_login="proxy", console_user_header="X-User")
    with pytest.raises(OperatorError, match="LOGIN=proxy also needs SAFEPASSAGE_CONSOLE_PROXIES"):
        async with running_console(settings):
            pass
