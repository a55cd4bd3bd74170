"""The console in Chromium: judged by keyboard, read by assistive technology, attacked by text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from safepassage.schemas import Verdict
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED
from tests.streams.console.cases import HOSTILE, verdict
from tests.streams.console.chromium import Hands, chromium
from tests.streams.console.running import (
    console_settings,
    keep_text,
    outcomes,
    put,
    reviews,
    running_console,
)

DATE = {"yyyy": 2012, "mm": 1, "dd": 11}
TEXT = "The hearing was held on January 17, 2012 in Toronto. The judge was Ann Lee."


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("other")) as running:
        yield running


def hearing(number: int, **changes: object) -> Verdict:
    """A verdict on a wrong date, the more uncertain the higher its number."""
    fields = {
        "text": TEXT,
        "context": "held on January 11, 2012",
        "passage": TEXT[:40],
        "doc_id": f"doc-{number}",
        "entity_type": "Hearing Date",
        "value": DATE,
        "score": 0.4 + number / 100,
    }
    return verdict(number, **(fields | changes))


async def test_a_reviewer_judges_by_keyboard_and_a_restart_loses_nothing(
    kafka: Settings, browser: Chrome
) -> None:
    settings = console_settings(kafka)
    await put(settings, [hearing(number) for number in range(1, 6)])

    def judge(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana Reyes")
        assert hands.text("left") == "5"
        assert hands.text("case-heading") == "Hearing Date January 11, 2012"
        assert [e.text for e in browser.find_elements(By.CSS_SELECTOR, "#quote del")] != []
        assert [e.text for e in browser.find_elements(By.CSS_SELECTOR, "#passage ins")] != []
        hands.press_and_go("s")
        assert hands.says("Saved: supports, Hearing Date: January 11, 2012")
        hands.press_and_go("i")
        hands.press_and_go("n")
        assert hands.says("Saved: skipped")
        hands.press("c")
        # The browser tells the page that the form is open only after the key's own event.
        hands.until(lambda: browser.switch_to.active_element.get_attribute("name") == "field0")
        hands.press(Keys.TAB)
        hands.press(Keys.TAB)
        hands.press("17")
        hands.press_and_go(Keys.ENTER)
        assert hands.says("Saved: corrected")
        undone = hands.case()
        hands.press_and_go("s")
        hands.press_and_go("u")
        assert hands.says("Taken back. Decide again.")
        assert hands.case() == undone
        assert hands.complaints() == []

    async with running_console(settings) as address:
        await asyncio.to_thread(judge, address)
        await outcomes(settings, ACCEPTED, 2)
    made = await reviews(settings)
    assert [r.decision for r in made] == [
        *("supports", "insufficient", "skipped", "corrected", "supports", "undone")
    ]
    assert {r.reviewer for r in made} == {"Ana Reyes"}
    assert made[3].value == {"yyyy": 2012, "mm": 1, "dd": 17}
    assert made[5].supersedes == made[4].id

    def come_back(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana Reyes")
        assert hands.text("left") == "1"
        hands.press_and_go("s")
        assert not hands.has("supports")

    async with running_console(settings) as address:
        await asyncio.to_thread(come_back, address)


async def test_a_reason_is_one_key_and_a_comment_goes_with_it(
    kafka: Settings, browser: Chrome
) -> None:
    settings = console_settings(kafka)
    await put(settings, [hearing(number) for number in range(1, 4)])

    def judge(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana Reyes")
        hands.press_and_go("4")
        assert hands.says("Saved: insufficient")
        hands.press("w")
        hands.until(
            lambda: browser.switch_to.active_element.get_attribute("id") == "reason-wrong_field"
        )
        browser.find_element(By.ID, "comment").send_keys("1 day off")
        browser.find_element(By.ID, "comment").send_keys(Keys.ESCAPE)
        hands.until(lambda: browser.switch_to.active_element.get_attribute("id") == "because")
        hands.press_and_go("3")
        hands.press_and_go("s")
        assert hands.complaints() == []

    async with running_console(settings) as address:
        await asyncio.to_thread(judge, address)
    made = [(r.decision, r.reason, r.comment) for r in await reviews(settings)]
    assert made == [
        ("insufficient", "wrong_value", ""),
        ("insufficient", "denied", "1 day off"),
        ("supports", None, ""),
    ]


async def test_two_reviewers_at_once_get_different_cases(
    kafka: Settings, browser: Chrome, other: Chrome
) -> None:
    settings = console_settings(kafka)
    await put(settings, [hearing(number) for number in range(1, 5)])

    def judge(address: str) -> None:
        ana, ben = Hands(browser, address), Hands(other, address)
        ana.login("Ana")
        ben.login("Ben")
        seen = [ana.case(), ben.case()]
        ana.press_and_go("s")
        seen.append(ana.case())
        ben.press_and_go("i")
        seen.append(ben.case())
        assert "" not in seen
        assert len(set(seen)) == 4

    async with running_console(settings) as address:
        await asyncio.to_thread(judge, address)
    assert [(r.reviewer, r.decision) for r in await reviews(settings)] == [
        ("Ana", "supports"),
        ("Ben", "insufficient"),
    ]


async def test_letters_decide_nothing_while_one_types_or_has_switched_them_off(
    kafka: Settings, browser: Chrome
) -> None:
    settings = console_settings(kafka)
    await put(settings, [hearing(1, value="January"), hearing(2, value="February")])

    def type_letters(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana")
        case, drawn = hands.case(), hands.text("claim-value")
        hands.press("c")
        hands.until(lambda: browser.switch_to.active_element.get_attribute("name") == "value")
        hands.press("sin")
        assert hands.text("claim-value") == drawn
        assert browser.switch_to.active_element.get_attribute("value") == "sin"
        hands.press(Keys.ESCAPE)
        assert browser.switch_to.active_element.get_attribute("id") == "correct"
        hands.find("shortcuts").click()
        hands.press("s")
        hands.press("i")
        assert hands.case() == case
        hands.find("shortcuts").click()
        hands.press("c")
        hands.until(lambda: browser.switch_to.active_element.get_attribute("name") == "value")
        hands.press("March")
        hands.press_and_go(Keys.ENTER)
        assert hands.says("Saved: corrected")

    def hold_a_key(address: str) -> None:
        hands = Hands(browser, address)
        hands.open("/review")
        held = {"type": "keyDown", "text": "s", "key": "s", "autoRepeat": True}
        browser.execute_cdp_cmd("Input.dispatchKeyEvent", held)
        hands.settled()

    async with running_console(settings) as address:
        await asyncio.to_thread(type_letters, address)
        await asyncio.to_thread(hold_a_key, address)
    (made,) = await reviews(settings)
    assert (made.decision, made.value) == ("corrected", "March")


async def test_hostile_text_runs_nothing_loads_nothing_and_moves_nothing(
    kafka: Settings, browser: Chrome
) -> None:
    settings = console_settings(kafka)
    hostile = {
        "text": HOSTILE,
        "context": HOSTILE,
        "passage": HOSTILE,
        "value": HOSTILE,
        "entity_type": HOSTILE,
        "doc_id": HOSTILE,
        "model": HOSTILE,
    }
    await keep_text(settings, verdict(1, **hostile), HOSTILE)
    await put(settings, [verdict(1, **hostile)])

    def look(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana")
        whole = f"/cases/{hands.case()}/document"
        assert "U+202E" in hands.text("claim-value")
        assert "<script>alert(1)</script>" in hands.text("claim-value")
        for path in ("/review", "/queue", "/measures"):
            hands.open(path)
            assert "\u202e" not in browser.find_element(By.TAG_NAME, "body").text
            assert hands.complaints() == []
        for path in ("/review", "/queue", "/measures", whole):
            hands.open(path)
            with pytest.raises(NoAlertPresentException):
                _ = browser.switch_to.alert.text
            assert hands.script("return document.images.length") == 0

    async with running_console(settings) as address:
        await asyncio.to_thread(look, address)


async def test_columns_of_a_document_stand_under_each_other(
    kafka: Settings, browser: Chrome
) -> None:
    settings = console_settings(kafka)
    text = f"{TEXT}\n\niiii  2011\nWWWW  2012\n"
    shown = hearing(1, text=text)
    await put(settings, [shown])
    await keep_text(settings, shown, text)

    def look(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana")
        narrow, wide = (hands.script(WIDTH % letters) for letters in ("iiii", "WWWW"))
        assert narrow == wide

    async with running_console(settings) as address:
        await asyncio.to_thread(look, address)


WIDTH = """
const text = document.querySelector('.document .text');
const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
  const at = node.data.indexOf('%s');
  if (at < 0) continue;
  const range = document.createRange();
  range.setStart(node, at);
  range.setEnd(node, at + 4);
  return range.getBoundingClientRect().width;
}
throw new Error('not there');
"""
LANDMARKS = "header.top, nav[aria-label], main, article[aria-labelledby], aside[aria-label]"
NAMELESS = """
const controls = 'button, a, input:not([type=hidden]), select, textarea, summary';
return [...document.querySelectorAll(controls)]
  .filter(e => !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-label')))
  .map(e => e.outerHTML)
"""
BROKEN_REFERENCES = """
const names = ['aria-labelledby', 'aria-describedby', 'aria-controls'];
return [...document.querySelectorAll(names.map(n => `[${n}]`).join())]
  .flatMap(e => names.map(n => e.getAttribute(n)))
  .filter(id => id && !document.getElementById(id))
"""
DUPLICATE_IDS = """
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
return ids.filter((id, place) => ids.indexOf(id) !== place)
"""
FOCUS_OUTLINE = "return getComputedStyle(document.activeElement).outlineStyle"
FAINT = """
const parse = c => c.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
  .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const behind = e => {
  for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c;
  }
  return [255, 255, 255];
};
return [...document.querySelectorAll('body *')]
  .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
  .filter(e => e.getClientRects().length && !e.closest('.visually-hidden, script, noscript'))
  .map(e => {
    const style = getComputedStyle(e), [a, b] = [light(parse(style.color)), light(behind(e))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    return [ratio * (e.closest('kbd') ? 1 : Number(style.opacity)), e.outerHTML.slice(0, 80)];
  })
  .filter(([ratio]) => ratio < 4.5)
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_can_be_used_by_keyboard_and_screen_reader(
    kafka: Settings, browser: Chrome, scheme: str
) -> None:
    settings = console_settings(kafka)
    await put(settings, [hearing(1), hearing(2), verdict(7, score=0.9)])

    def look(address: str) -> None:
        hands = Hands(browser, address)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        hands.open("/login")
        assert hands.script(FAINT) == []
        hands.login("Ana")
        assert hands.find("case-heading") == browser.switch_to.active_element
        assert len(browser.find_elements(By.CSS_SELECTOR, LANDMARKS)) == 5
        hands.press_and_go("s")
        assert hands.find("status").get_attribute("aria-live") == "polite"
        hands.press("c")
        for path in (None, "/queue", "/decisions", "/measures", "/review?pool=skipped"):
            if path:
                hands.open(path)
            assert len(browser.find_elements(By.TAG_NAME, "h1")) == 1
            assert hands.script(NAMELESS) == []
            assert hands.script(BROKEN_REFERENCES) == []
            assert hands.script(DUPLICATE_IDS) == []
            assert hands.script(FAINT) == []
        hands.open("/queue")
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
        first = browser.switch_to.active_element
        assert first.get_attribute("class") == "skip-link"
        assert (
            hands.script("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
        )
        first.send_keys(Keys.ENTER)
        assert browser.switch_to.active_element.get_attribute("id") == "main"
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    async with running_console(settings) as address:
        await asyncio.to_thread(look, address)


async def test_more_of_the_document_comes_without_losing_what_was_typed(
    kafka: Settings, browser: Chrome
) -> None:
    settings = console_settings(kafka)
    text = TEXT + " The record goes on." * 400
    one = hearing(1, text=text, value="January 11")
    await keep_text(settings, one, text)
    await put(settings, [one])

    def read_on(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana")
        assert browser.find_element(By.CSS_SELECTOR, "#document mark").text == TEXT[:40]
        before = len(hands.text("document"))
        hands.press("c")
        hands.press("January 17")
        browser.find_element(By.CSS_SELECTOR, "#document [data-replace]").click()
        hands.until(lambda: len(hands.text("document")) > before)
        assert hands.text("claim-value") == "January 11"
        typed = browser.find_element(By.CSS_SELECTOR, "#correction textarea")
        assert typed.get_attribute("value") == "January 17"

    async with running_console(settings) as address:
        await asyncio.to_thread(read_on, address)


async def test_enter_saves_a_corrected_text_and_shift_begins_a_line(
    kafka: Settings, browser: Chrome
) -> None:
    settings = console_settings(kafka)
    await put(settings, [hearing(1, value="January 11")])

    def correct(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana")
        hands.press("c")
        hands.until(lambda: browser.switch_to.active_element.tag_name == "textarea")
        hands.press("January 17")
        hands.press(Keys.SHIFT + Keys.ENTER + Keys.NULL)
        hands.press("2012")
        assert hands.case(), "Shift and Enter save nothing"
        hands.press_and_go(Keys.ENTER)
        assert hands.says("Saved: corrected")

    async with running_console(settings) as address:
        await asyncio.to_thread(correct, address)
    (made,) = await reviews(settings)
    assert made.value == "January 17\n2012"
