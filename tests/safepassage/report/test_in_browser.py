"""The report in Chromium: keys and filters work, both themes are readable, nothing complains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from safepassage.report import framed, report
from tests.streams.console.chromium import chromium

from .made import TEXT, VERDICTS, document

FAINT = """
const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map((v) => {
  v = v / 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const back = (e) => { for (; e; e = e.parentElement) {
  const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; }
  return "rgb(255, 255, 255)"; };
return [...document.querySelectorAll("header *, .text, mark, .card *, h2, dd")]
  .filter((e) => e.getClientRects().length && [...e.childNodes].some((n) => n.nodeType === 3
    && n.data.trim()) && !e.closest("svg"))
  .filter((e) => { const [a, b] = [light(getComputedStyle(e).color), light(back(e))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5; })
  .map((e) => e.className + ": " + e.textContent.slice(0, 30));
"""
"""What has less contrast than WCAG AA asks for."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: webdriver.Chrome, tmp_path: Path) -> webdriver.Chrome:
    path = tmp_path / "report.html"
    path.write_text(report([document(pages=True)], VERDICTS), encoding="utf-8")
    browser.get_log("browser")
    browser.get(path.as_uri())
    return browser


def press(page: webdriver.Chrome, keys: str) -> None:
    page.find_element(By.TAG_NAME, "body").send_keys(keys)


def chosen(page: webdriver.Chrome) -> list[str | None]:
    found = page.find_elements(By.CSS_SELECTOR, ".card.chosen")
    return [card.get_attribute("data-v") for card in found]


def shown(page: webdriver.Chrome) -> list[str | None]:
    cards = page.find_elements(By.CSS_SELECTOR, ".card")
    return [card.get_attribute("data-v") for card in cards if card.is_displayed()]


def test_hostile_text_does_nothing_and_the_browser_does_not_complain(page: webdriver.Chrome):
    assert page.title == "Evidence · SafePassage"
    text = page.execute_script("return document.querySelector('.text').textContent")
    assert text == TEXT
    assert page.get_log("browser") == []


def test_the_policy_stops_what_is_not_ours(page: webdriver.Chrome):
    page.execute_script(
        "const s = document.createElement('script'); s.textContent = 'document.title = \"taken\"';"
        "document.body.append(s);"
    )
    assert page.title == "Evidence · SafePassage"
    assert "Content Security Policy" in str(page.get_log("browser"))


def test_keys_go_through_the_values(page: webdriver.Chrome):
    press(page, "jj")
    assert chosen(page) == ["1"]
    marks = page.find_elements(By.CSS_SELECTOR, "mark.chosen")
    assert "".join(mark.text for mark in marks) == "A deposit of £1,500"
    press(page, "k")
    assert chosen(page) == ["0"]
    press(page, "\ue00c")  # Escape
    assert chosen(page) == []


def test_filters_and_search_leave_what_is_asked_for(page: webdriver.Chrome):
    press(page, "1")
    assert shown(page) == ["2", "3", "4"]
    plain = page.find_elements(By.CSS_SELECTOR, "mark.plain")
    assert {mark.get_attribute("data-v") for mark in plain} == {"0", "1"}
    page.find_element(By.CSS_SELECTOR, "[data-filter=quarantined]").click()
    assert shown(page) == ["4"]
    press(page, "12/")
    page.switch_to.active_element.send_keys("deposit")
    assert shown(page) == ["1"]


def test_a_click_on_a_mark_or_a_box_chooses_its_value(page: webdriver.Chrome):
    page.find_element(By.CSS_SELECTOR, 'mark[data-v="4"]').click()
    assert chosen(page) == ["4"]
    press(page, "p")
    assert not page.find_element(By.CSS_SELECTOR, ".text").is_displayed()
    page.find_element(By.CSS_SELECTOR, '.box[data-v="0"]').click()
    assert chosen(page) == ["0"]


def test_both_themes_are_readable(page: webdriver.Chrome):
    seen = set()
    for _ in range(2):
        seen.add(page.execute_script("return getComputedStyle(document.body).backgroundColor"))
        assert page.execute_script(FAINT) == []
        press(page, "t")
    assert len(seen) == 2


def test_a_notebooks_frame_runs_it(browser: webdriver.Chrome, tmp_path: Path):
    path = tmp_path / "notebook.html"
    html = framed(report([document()], VERDICTS))
    path.write_text(f'<!doctype html><meta charset="utf-8">{html}', encoding="utf-8")
    browser.get(path.as_uri())
    browser.switch_to.frame(browser.find_element(By.TAG_NAME, "iframe"))
    browser.find_element(By.CSS_SELECTOR, 'mark[data-v="4"]').click()
    assert chosen(browser) == ["4"]
    browser.switch_to.default_content()
