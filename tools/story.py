"""Goes round the loop once and keeps the pictures and what the commands printed.

    python -m tools.story

It is what `tests/integration/test_loop.py` does: a test holds the story that
`docs/concepts/review-loop.md` tells. Needs Chromium, and some minutes.
"""

import sys
import tempfile
from pathlib import Path

from selenium.webdriver import Chrome

from tests.integration import harbour
from tests.integration.test_loop import HELD_OUT, REVIEWED, Round, go_round, harbour_loop, right

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, HEIGHT = 1360, 880


def photograph(browser: Chrome, name: str) -> None:
    """One picture into the folder of the documentation."""
    browser.set_window_size(WIDTH, HEIGHT)
    browser.save_screenshot(str(IMAGES / f"loop-{name}.png"))


def tell(went: Round) -> str:
    """The figures of the story, and what its commands printed."""
    new, old = len(harbour.gold(HELD_OUT)), len(harbour.gold(REVIEWED))
    strict_right = sum(not supported for supported in harbour.gold(HELD_OUT).values())
    figures = [
        f"{went.decided} cases decided, {went.labels} labels",
        f"reviewed documents: {right(went.before, REVIEWED)} of {old} verdicts right before, "
        f"{right(went.after, REVIEWED)} after",
        f"documents nobody reviewed: {strict_right} of {new} before, "
        f"{right(went.after, HELD_OUT)} after",
    ]
    commands = [f"== {name}\n{text}" for name, text in went.printed.items()]
    return "\n".join((*figures, *commands))


def main() -> None:
    """Go round, and tell."""
    with tempfile.TemporaryDirectory() as folder, harbour_loop(Path(folder)) as loop:
        went = go_round(loop, Path(folder) / "profile", photograph)
    sys.stdout.write(tell(went) + "\n")


if __name__ == "__main__":
    main()
