"""Makes the pictures of the console from the bundled documents, with the default scorer.

    python -m tools.screenshots

Needs Chromium. The extractors' names and the reviewers are invented; verdicts and findings are
what the pipeline says of the bundled extractions.
"""

import asyncio
import random
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from selenium.webdriver import Chrome

from safepassage.agents.aligner import Aligner
from safepassage.schemas import ExtractorTrail, Review, Verdict, stable_id
from safepassage.scoring_worker import load_scorer
from safepassage.streams.console.index.case_filter import lot
from safepassage.streams.demo import corpus
from safepassage.streams.offline.check import check, read_input
from safepassage.streams.settings import Settings
from safepassage.streams.topics import REVIEWS
from tests.stack import running_stack
from tests.streams.console.chromium import Hands, chromium
from tests.streams.console.running import console_settings, keep_text, put, running_console
from tests.streams.judged import publish

IMAGES = Path(__file__).parents[1] / "docs" / "images"
MODELS = ("gpt-4.1-mini", "llama-3.3-70b", "mistral-small-3")
SAMPLE = 0.3
JUDGED_CHECKS = 40
WIDTH, HEIGHT = 1360, 880


async def verdicts() -> list[Verdict]:
    """The bundled extractions through the real aligner and scorer."""
    draw = random.Random(11)
    given = read_input([corpus.DOCUMENTS], [corpus.EXTRACTIONS])
    given.extractions = [
        extraction.model_copy(update={"extractor": trail(draw.choice(MODELS))})
        for extraction in given.extractions
    ]
    aligner, scorer = Aligner(), load_scorer("default")
    try:
        return check(given, aligner, scorer)
    finally:
        aligner.close()
        scorer.close()


def trail(model: str) -> ExtractorTrail:
    """An extractor that could have been."""
    prompt, schema = stable_id("prompt", model), stable_id("schema", "demo")
    return ExtractorTrail(model=model, prompt_digest=prompt, schema_digest=schema)


def earlier_checks(judged: list[Verdict]) -> list[Review]:
    """What a reviewer who knows the gold labels would have said of the spot checks."""
    labels = {row.id: row.label for row in corpus.extractions()}
    drawn = [v for v in judged if v.decision == "accepted" and lot(v) < SAMPLE]
    return [
        Review(
            id=stable_id("screenshot", verdict.id),
            verdict=verdict,
            decision="supports" if labels[verdict.extraction_id] else "insufficient",
            reviewer="Ben Okafor",
            decided_at=datetime.now(UTC) - timedelta(minutes=90 - number),
            seconds=13,
            sampled=True,
        )
        for number, verdict in enumerate(sorted(drawn, key=lot)[:JUDGED_CHECKS])
    ]


async def main() -> None:
    """Fill a console and photograph it."""
    with running_stack() as stack:
        settings = console_settings(stack.settings(), leakage_sample=SAMPLE)
        judged = await verdicts()
        await put(settings, judged)
        await publish(settings, REVIEWS, earlier_checks(judged))
        await keep_texts(settings, judged)
        async with running_console(settings) as address:
            await asyncio.to_thread(photograph, address)


async def keep_texts(settings: Settings, judged: list[Verdict]) -> None:
    """The documents to where the console finds them."""
    texts = {document.id: document.text for document in corpus.documents()}
    for verdict in {v.doc_id: v for v in judged if v.document}.values():
        await keep_text(settings, verdict, texts[verdict.doc_id])


def photograph(address: str) -> None:
    """Every picture, in one go through the console."""
    with (
        tempfile.TemporaryDirectory() as profile,
        chromium(Path(profile), width=WIDTH, height=HEIGHT) as browser,
    ):
        hands = Hands(browser, address)
        hands.login("Ana Reyes")
        hands.press_and_go("s")
        hands.open("/review?pool=stopped&document=rtc-2018-30552&reason=not_found")
        shoot(browser, hands, "case")
        feature = {"name": "prefers-color-scheme", "value": "dark"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        hands.open("/review?pool=checks")
        shoot(browser, hands, "check")
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        hands.open("/review?pool=stopped&entity_type=Date")
        hands.press("c")
        shoot(browser, hands, "correction")
        for name in ("queue", "measures"):
            hands.open(f"/{name}")
            shoot(browser, hands, name)


def shoot(browser: Chrome, hands: Hands, name: str) -> None:
    """One picture into the folder of the documentation."""
    hands.settled()
    browser.save_screenshot(str(IMAGES / f"console-{name}.png"))


if __name__ == "__main__":
    asyncio.run(main())
