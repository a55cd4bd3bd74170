"""Goes round the loop once and keeps the pictures and the figures.

    python -m tools.story

It is what `tests/integration/test_loop.py` does: a test holds the story that
`docs/concepts/review-loop.md` tells. Needs Chromium, and ten minutes or more.
"""

import sys
import tempfile
from pathlib import Path

from selenium.webdriver import Chrome

from safepassage.schemas.reviews_that_count import case_id
from tests.integration.test_loop import Round, go_round, harbour_loop, right

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, HEIGHT = 1360, 880


def photograph(browser: Chrome, name: str) -> None:
    """One picture into the folder of the documentation."""
    browser.set_window_size(WIDTH, HEIGHT)
    browser.save_screenshot(str(IMAGES / f"loop-{name}.png"))


def tell(went: Round) -> str:
    """The figures of the story."""
    unseen = [v for v in went.before if case_id(v) not in went.decided]
    names = {v.extraction_id for v in unseen}
    old, new = len(went.before), len(went.new)
    report = went.report
    flipped = sum(flip["count"] for flip in report["flips"])
    agreeing = [report[f"agreement_{side}"]["agreeing"] for side in ("before", "after")]
    risks = [report[f"risk_{side}"] for side in ("before", "after")]
    return "\n".join(
        (
            f"{len(went.decided)} cases decided",
            f"the same documents: {right(went.before)} of {old} verdicts right before, "
            f"{right(went.after)} after",
            f"of these without a decision: {right(unseen)} of {len(unseen)} before, "
            f"{right(went.after, lambda v: v.extraction_id in names)} after",
            f"new documents: {right(went.new)} of {new}",
            f"replay: {flipped} of {report['compared']} decisions changed",
            f"agreement with reviews, before and after: {agreeing}",
            f"risk of what passes, before and after: {risks}",
            f"a verdict leaned on: {went.alike}",
            f"Measures: {went.promised}",
            f"steps: {', '.join(reversed(went.steps))}",
        )
    )


def main() -> None:
    """Go round, and tell."""
    with tempfile.TemporaryDirectory() as folder, harbour_loop(Path(folder)) as loop:
        went = go_round(loop, Path(folder) / "profile", photograph)
    sys.stdout.write(tell(went) + "\n")


if __name__ == "__main__":
    main()
