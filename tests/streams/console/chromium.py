"""Debian's Chromium for the tests, and a reviewer's hands on it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from .running import TOKEN

PATIENCE_SECONDS = 20
# The page that is there until the topics are read: it comes back by itself.
LOADING = re.compile(r"/review - .* status of 503")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@contextmanager
def chromium(profile: Path, *, width: int = 1360, height: int = 860) -> Iterator[webdriver.Chrome]:
    """A fresh browser; skips the test where none is installed."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("needs Chromium: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    try:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        yield browser
    finally:
        browser.quit()


class Hands:
    """What a reviewer does: look, press keys, wait for the next page."""

    def __init__(self, browser: webdriver.Chrome, address: str) -> None:
        self.browser = browser
        self.address = address
        self._complaints: list[str] = []

    def login(self, name: str) -> None:
        """Log in and wait for the first case, or for the news that there is none."""
        self.browser.get(f"{self.address}/login")
        self.find("reviewer").send_keys(name)
        self.find("token").send_keys(TOKEN, Keys.ENTER)
        self.until(lambda: self.browser.find_elements(By.ID, "case-heading"))
        self._complaints = [said for said in self.complaints() if not LOADING.search(said)]

    def open(self, path: str) -> None:
        self.browser.get(self.address + path)

    def find(self, element_id: str) -> WebElement:
        return self.browser.find_element(By.ID, element_id)

    def text(self, element_id: str) -> str:
        """What stands in an element, blanks made one."""
        return " ".join(self.find(element_id).text.split())

    def says(self, words: str) -> bool:
        """Whether the status line comes to begin with ``words``: it is filled after the page."""
        self.until(lambda: self.text("status").startswith(words))
        return True

    def has(self, element_id: str) -> bool:
        return bool(self.browser.find_elements(By.ID, element_id))

    def case(self) -> str:
        """The id of the case on the page, "" if there is none."""
        found = self.browser.find_elements(By.CSS_SELECTOR, "[data-case]")
        return found[0].get_attribute("data-case") or "" if found else ""

    def press(self, key: str) -> None:
        """Press a key wherever the focus is."""
        self.browser.switch_to.active_element.send_keys(key)

    def press_and_go(self, key: str) -> None:
        """Press a key that leads to another page, and wait for it to be there."""
        page = self.browser.find_element(By.TAG_NAME, "html")
        self.press(key)
        self.until(lambda: page.id != self.browser.find_element(By.TAG_NAME, "html").id)
        self.settled()

    def settled(self) -> None:
        """Wait until the page and its script are done."""
        self.until(lambda: self.script("return document.readyState") == "complete")

    def script(self, source: str) -> object:
        found: object = self.browser.execute_script(source)
        return found

    def complaints(self) -> list[str]:
        """What the browser's console says, from the login on."""
        said, self._complaints = self._complaints, []
        return said + [str(entry["message"]) for entry in self.browser.get_log("browser")]

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for ``condition``; an element that is exchanged meanwhile is looked at again."""
        wait = WebDriverWait(
            self.browser, PATIENCE_SECONDS, 0.02, (StaleElementReferenceException,)
        )
        wait.until(lambda _: condition())
