"""What a case is asked of, on a telephone and on a desk, by day and by night."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from safepassage.schemas import Verdict
from safepassage.schemas.schema_field import SchemaField
from safepassage.streams.settings import Settings
from tests.streams.console.cases import verdict
from tests.streams.console.chromium import Hands, chromium
from tests.streams.console.running import (
    console_settings,
    keep_text,
    put,
    reviews,
    running_console,
)

TEXT = "Ward 4 orders 120 gloves at 0.35 EUR each. Net total 42.00 EUR, gross total 49.98 EUR."
DESCRIPTION = "The whole sum with tax"
GROSS = SchemaField(
    name="gross_total", description=DESCRIPTION, unit="EUR", allowed=(42.0, 49.98), single=True
)
BETTER = "The whole sum with tax. The net total does not count."
PAGES = (
    *("/review", "/queue", "/decisions", "/measures"),
    *("/agreement", "/learning", "/help", "/nowhere"),
)
BROKEN_WORDS = """
const lines = cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return new Set([...text.getClientRects()].map(box => box.top)).size;
};
return [...document.querySelectorAll('td')]
  .map(cell => [cell.innerText.trim(), lines(cell)])
  .filter(([text, count]) => /^\\w+$/.test(text) && count > 1)
"""
SCROLLS_SIDEWAYS = """
const edge = document.documentElement.clientWidth;
const inside = e => e.closest('.scroller, .graph, .sheet, .text, .skip-link, .visually-hidden');
return [...document.querySelectorAll('body *')]
  .filter(e => e.checkVisibility() && !inside(e.parentElement) && !inside(e))
  .filter(e => e.getBoundingClientRect().right > edge + 1 || e.getBoundingClientRect().left < -1)
  .map(e => e.outerHTML.slice(0, 80))
  .concat(document.documentElement.scrollWidth > edge ? ['the page'] : [])
"""
BAR = "return document.querySelector('.decide').getBoundingClientRect().height / innerHeight"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


def gross_total(number: int) -> Verdict:
    """A verdict on a field that the schema describes."""
    made = verdict(
        number, text=TEXT, context=TEXT[43:], entity_type="Gross Total", value=42.0, score=0.3
    )
    return made.model_copy(update={"field": GROSS})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800)])
async def test_no_page_scrolls_sideways(
    kafka: Settings, browser: Chrome, width: int, height: int, scheme: str
) -> None:
    settings = console_settings(kafka)
    await put(settings, [gross_total(1), gross_total(2), verdict(7, score=0.9)])
    await keep_text(settings, gross_total(1), TEXT)

    def look(address: str) -> None:
        hands = Hands(browser, address)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        hands.login("Ana")
        bar = hands.script(BAR)
        assert isinstance(bar, float)
        assert bar < 0.1
        for key in ("w", "c"):
            hands.press(key)
            picture(browser, f"{key}-{width}-{scheme}")
            assert hands.script(SCROLLS_SIDEWAYS) == []
            hands.press(Keys.ESCAPE)
        for path in PAGES:
            hands.open(path)
            picture(browser, f"{path.strip('/')}-{width}-{scheme}")
            assert hands.script(SCROLLS_SIDEWAYS) == [], path
            assert hands.script(BROKEN_WORDS) == [], path
        assert "no page at this address" in hands.text("main")
        assert browser.find_elements(By.CSS_SELECTOR, "nav a")

    async with running_console(settings) as address:
        await asyncio.to_thread(look, address)


async def test_a_case_says_what_is_asked_and_a_better_description_reaches_the_measures(
    kafka: Settings, browser: Chrome
) -> None:
    settings = console_settings(kafka)
    await put(settings, [gross_total(1), gross_total(2)])

    def judge(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana")
        assert hands.text("field") == f"{DESCRIPTION} Unit: EUR Allowed: 42.0 · 49.98"
        hands.press("w")
        proposed = browser.find_element(By.ID, "description")
        assert proposed.get_attribute("value") == DESCRIPTION
        proposed.send_keys(Keys.END, ". The net total does not count.", Keys.ESCAPE)
        hands.press_and_go("i")
        hands.press_and_go("s")
        hands.open("/measures")
        assert hands.text("proposals").endswith(f"Gross Total {BETTER} {DESCRIPTION} s Ana")

    async with running_console(settings) as address:
        await asyncio.to_thread(judge, address)
    made = [(r.decision, r.description, r.verdict.extractor) for r in await reviews(settings)]
    assert [(decision, said) for decision, said, _ in made] == [
        ("insufficient", BETTER),
        ("supports", ""),
    ]
    assert all(extractor and extractor.schema_digest == "s" for *_, extractor in made)


def picture(browser: Chrome, name: str) -> None:
    """The page as it is seen, for a person who sets PICTURES to a folder."""
    if folder := os.environ.get("PICTURES"):
        browser.save_screenshot(str(Path(folder, f"{name}.png")))
