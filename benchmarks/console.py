"""How long a reviewer waits: page and decision latency of the console with a long queue.

    python benchmarks/console.py [CASES]

Everything but Kafka: the real index, pages and HTTP server on the loopback interface, and a
publisher that answers at once. In milliseconds: on the clock, and of processor time, which does not
depend on what else the machine does.
"""

from __future__ import annotations

import asyncio
import http.client
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from pydantic import SecretStr

from safepassage.agents.document_store import DocumentMissing
from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Assessment,
    Coordinates,
    Document,
    DocumentRef,
    Extraction,
    ExtractorTrail,
    Span,
    Verdict,
    judge,
)
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.login.modes import login_of
from safepassage.streams.console.review_desk import ReviewDesk
from safepassage.streams.console.web.app import Console, console_app
from safepassage.streams.demo.embedded import free_port
from safepassage.streams.kafka.records import Outgoing
from safepassage.streams.runtime.health import quiet_server
from safepassage.streams.runtime.logs import configure_command_logging
from safepassage.streams.runtime.progress import Progress
from safepassage.streams.settings import Settings

CASES = 100_000
ROUNDS = 200
TOKEN = "benchmark"  # noqa: S105 - of this process alone
TYPES = ("Judge", "Decision Date", "Hearing Date", "Counsel", "GPE", "Outcome")
MODELS = ("model-a", "model-b", "model-c")
TEXT = "The panel heard the claim on the day that the record names, and decided. " * 40
ONE_IN_FOUR_IS_ACCEPTED = 4


class InstantPublisher:
    """Acknowledges at once: what is measured is the console."""

    async def publish(self, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        return {}


class OneText:
    """A document store that holds the benchmark's only text."""

    async def get(self, ref: DocumentRef) -> str:
        if ref.length != len(TEXT):
            raise DocumentMissing(ref.id)
        return TEXT


def verdict(number: int) -> Verdict:
    """A verdict with a score of its own, and a passage of usual length."""
    ref = Document(id=f"doc-{number // 8}", text=TEXT).ref(
        Coordinates(topic="documents", partition=0, offset=number)
    )
    model = MODELS[number % 3]
    extraction = Extraction(
        id=f"extraction-{number}",
        doc_id=ref.id,
        entity_type=TYPES[number % 6],
        value=f"Value {number}",
        context=TEXT[:140],
        document=ref,
        extractor=ExtractorTrail(model=model, prompt_digest=model, schema_digest="s"),
    )
    span = Span(start=0, end=142, text=TEXT[:142])
    alignment = Alignment(
        score=0.98,
        matches=140,
        length=142,
        unaligned=0,
        threshold=0.6,
        spans=(span,),
        route="window",
    )
    accepted = number % ONE_IN_FOUR_IS_ACCEPTED == 0
    score = (number * 7919 % 10_007) / 10_007
    assessment = Assessment(scorer="s", revision="r", score=score / 2 + accepted / 2, threshold=0.5)
    aligned = AlignedExtraction(extraction=extraction, document=ref, alignment=alignment)
    return judge(aligned, assessment)


def fill(desk: ReviewDesk, cases: int) -> None:
    """As many stopped verdicts as ``cases``, and accepted ones among them."""
    total = cases * ONE_IN_FOUR_IS_ACCEPTED // (ONE_IN_FOUR_IS_ACCEPTED - 1)
    written = [verdict(number).to_json() for number in range(total)]
    started, used = time.perf_counter(), time.process_time()
    for first in range(0, total, 500):
        with desk.store.batch():
            for number, raw in enumerate(written[first : first + 500], start=first):
                desk.note_verdict(Verdict.model_validate_json(raw), number)
    seconds, cpu = time.perf_counter() - started, time.process_time() - used
    print(f"{total} verdicts indexed in {seconds:.1f} s, {cpu:.1f} s of processor time")


class Browser:
    """The least that the console needs: a connection, a cookie, forms."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._cookie = ""

    def get(self, path: str) -> str:
        return self._request("GET", path, None)[1]

    def post(self, path: str, **fields: str) -> str:
        """Submit a form; returns where it leads."""
        return self._request("POST", path, urlencode(fields))[0]

    def login(self) -> None:
        csrf = field(self.get("/login"), "csrf")
        self.post("/login", csrf=csrf, token=TOKEN, reviewer="Benchmark")

    def _request(self, method: str, path: str, body: str | None) -> tuple[str, str]:
        headers = {"Cookie": self._cookie}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        if cookie := answer.headers.get("Set-Cookie"):
            self._cookie = cookie.partition(";")[0]
        assert answer.status in (200, 303), (answer.status, path)
        return answer.headers.get("Location", ""), text


def field(page: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, name
    return found[1]


def measure(port: int) -> None:
    """Go through the console as a reviewer does, and print what each step took."""
    browser = Browser(port)
    browser.login()
    paths = {
        "next case": "/review?pool=stopped",
        "next case, filtered by type and reason": "/review?entity_type=Judge&reason=unsupported",
        "next case, filter that nothing matches": "/review?document=none",
        "oldest case of a model": "/review?order=oldest&model=model-b",
        "queue table": "/queue",
        "measures": "/measures",
    }
    for name, path in paths.items():
        report(name, [timed(partial(browser.get, path)) for _ in range(ROUNDS)])
    decisions = []
    for _ in range(ROUNDS):
        page = browser.get("/review?pool=stopped")
        case = re.search(r'data-case="(\w+)"', page)
        assert case
        form = {name: field(page, name) for name in ("csrf", "seen", "opened")}
        path = f"/cases/{case[1]}/decision"
        decisions.append(timed(partial(browser.post, path, decision="supports", **form)))
    report("decision saved", decisions)


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds on the clock, and of processor time, that ``call`` took on both sides."""
    started, used = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000


def report(name: str, calls: list[tuple[float, float]]) -> None:
    """One line: what a reviewer waited, and what a busy machine cannot make longer."""
    ranked = statistics.quantiles((wall for wall, _ in calls), n=100)
    cpu = statistics.median(used for _, used in calls)
    print(f"{name:42} p50 {ranked[49]:6.1f}   p99 {ranked[98]:6.1f}   processor {cpu:6.1f} ms")


async def main(cases: int) -> None:
    """Serve the console from this process, and be its reviewer in a thread."""
    settings = Settings(console_token=SecretStr(TOKEN))
    desk = ReviewDesk(CaseStore(settings.leakage_sample), InstantPublisher(), settings)
    fill(desk, cases)
    desk.ready = True
    texts: Any = OneText()
    port = free_port()
    app = console_app(Console(desk, texts, login_of(settings), settings), Progress("review"))
    server = quiet_server(app, "127.0.0.1", port)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    await asyncio.to_thread(measure, port)
    server.should_exit = True
    await serving


if __name__ == "__main__":
    configure_command_logging(Settings(log_level="warning"))
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else CASES))
