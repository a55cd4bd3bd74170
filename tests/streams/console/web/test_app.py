"""The console over HTTP, without a browser: who may come in, what goes out, hostile content."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_args
from urllib.parse import urlsplit

import httpx2
import pytest
from pydantic import ValidationError
from starlette.types import ASGIApp

from safepassage.agents.document_store import DocumentMismatch, DocumentMissing
from safepassage.schemas import DocumentRef, FormerVerdict, Reason, Verdict
from safepassage.schemas.error_type import DESCRIPTIONS, ErrorTyping
from safepassage.schemas.evidence import ConsultedPassage, Evidence, JudgedTriple, UnsupportedSpan
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.wording import REASONS
from safepassage.service.quiet_server import quiet_server
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.login.modes import login_of
from safepassage.streams.console.promise import Promise
from safepassage.streams.console.review_desk import ReviewDesk
from safepassage.streams.console.web import app
from safepassage.streams.console.web.guard import HEADERS, MAX_BODY_BYTES
from safepassage.streams.console.web.originals import Originals
from safepassage.streams.runtime.progress import Progress
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, REVIEWS
from tests.streams.console.cases import HOSTILE, conflicting, review, verdict
from tests.streams.doubles import FakePublisher

TOKEN = "the token of the tests"


class Texts:
    """A document store: what ``texts`` holds; another document raises ``error``."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.error: Exception = DocumentMissing("nowhere")

    async def get(self, ref: DocumentRef) -> str:
        if ref.id not in self.texts:
            raise self.error
        return self.texts[ref.id]


class Browser:
    """Requests to the app in this thread, since the index belongs to one."""

    def __init__(self, app: ASGIApp, address: str = "127.0.0.1") -> None:
        self._runner = asyncio.Runner()
        transport = httpx2.ASGITransport(app, client=(address, 1))
        self._client = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self._request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx2.Response:
        return self._request("POST", path, **options)

    def forget(self) -> None:
        """From now on it is another browser."""
        self._client.cookies.clear()

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()

    def _request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        options.setdefault("follow_redirects", True)
        return self._runner.run(self._client.request(method, path, **options))


class Console:
    """A console and a browser's bare bones: cookies, and forms with their hidden fields."""

    def __init__(
        self,
        proxies: str = "",
        address: str = "127.0.0.1",
        originals: Originals | None = None,
        **changes: Any,
    ) -> None:
        self.publisher, self.texts = FakePublisher(), Texts()
        named: Mapping[str, Any] = {"console_proxies": proxies, "console_token": TOKEN} | changes
        settings = Settings(console_grace_seconds=0, leakage_sample=0, risk=0.05, **named)
        self.desk = ReviewDesk(CaseStore(0), self.publisher, settings)
        self.desk.ready = True
        texts: Any = self.texts
        login, progress = login_of(settings), Progress("review")
        promise = Promise(self.desk.store, self.publisher, settings)
        served_console = app.Console(self.desk, texts, login, settings, promise, originals)
        served = quiet_server(app.console_app(served_console, progress), "127.0.0.1", 0).config
        served.load()
        self.browser = Browser(served.loaded_app, address)

    def add(self, one: Verdict, text: str | None = None) -> str:
        self.desk.note_verdict(one, 1)
        if text is not None:
            self.texts.texts[one.doc_id] = text
        return case_id(one)

    def login(
        self, reviewer: str = "Ana", token: str = TOKEN, forwarded: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        page = self.browser.get("/login").text
        return self.browser.post(
            "/login",
            data={"csrf": hidden(page, "csrf"), "reviewer": reviewer, "token": token},
            headers=dict(forwarded or {}),
            follow_redirects=False,
        )

    def page(self, path: str = "/review?pool=stopped") -> str:
        answer = self.browser.get(path)
        assert answer.status_code == 200
        return answer.text

    def decide(self, page: str, **fields: str) -> httpx2.Response:
        case = re.search(r'data-case="(\w+)"', page)
        assert case
        form = {name: hidden(page, name) for name in ("csrf", "seen", "opened")} | fields
        return self.browser.post(f"/cases/{case[1]}/decision", data=form, follow_redirects=False)


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, f"no field {name}"
    return html.unescape(found[1])


@contextmanager
def opened(made: Console) -> Iterator[Console]:
    try:
        yield made
    finally:
        made.browser.close()
        made.desk.store.close()


@pytest.fixture
def console() -> Iterator[Console]:
    with opened(Console()) as made:
        yield made


@pytest.mark.parametrize(
    "path",
    ["/review", "/queue", "/decisions", "/measures", "/help", "/cases/x", "/cases/x/document"],
)
def test_nobody_sees_anything_without_the_token(console: Console, path: str) -> None:
    answer = console.browser.get(path, follow_redirects=False)
    assert answer.status_code == 303
    assert urlsplit(answer.headers["location"]).path == "/login"


@pytest.mark.parametrize("path", ["/cases/x/decision", "/cases/x/lease", "/reviews/x/undo"])
def test_nobody_changes_anything_without_the_token(console: Console, path: str) -> None:
    answer = console.browser.post(path, data={"decision": "supports"}, follow_redirects=False)
    assert answer.status_code == 303
    assert console.publisher.published == []


def test_the_token_opens_and_a_wrong_one_does_not(console: Console) -> None:
    assert console.login(token="wrong").status_code == 403
    assert console.login().status_code == 303
    assert "Nothing to judge" in console.page()


def test_guessing_is_slowed_down(console: Console) -> None:
    for _ in range(10):
        console.login(token="wrong")
    assert console.login().status_code == 429


@pytest.mark.parametrize(
    ("proxies", "address"), [("", "127.0.0.1"), ("10.0.0.5,10.1.0.0/16", "10.0.0.6")]
)
def test_who_is_no_proxy_of_ours_is_who_connects(proxies: str, address: str) -> None:
    with opened(Console(proxies, address)) as console:
        for number in range(10):
            forwarded = {"X-Forwarded-For": f"192.0.2.{number}", "X-Forwarded-Proto": "https"}
            console.login(token="wrong", forwarded=forwarded)
        assert console.login(forwarded={"X-Forwarded-For": "192.0.2.99"}).status_code == 429


def test_a_proxy_is_not_believed_over_the_environment_of_uvicorn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    test_who_is_no_proxy_of_ours_is_who_connects("", "192.0.2.1")


@pytest.mark.parametrize("address", ["10.0.0.5", "10.1.2.3"])
def test_behind_a_proxy_the_guesser_waits_and_others_do_not(address: str) -> None:
    with opened(Console("10.0.0.5, 10.1.0.0/16", address)) as console:
        for number in range(10):
            # What the client itself sent stands in front, and a second proxy of ours behind.
            through = f"203.0.113.{number}, 192.0.2.1, 10.1.0.9"
            console.login(token="wrong", forwarded={"X-Forwarded-For": through})
        assert console.login(forwarded={"X-Forwarded-For": "192.0.2.1"}).status_code == 429
        assert console.login(forwarded={"X-Forwarded-For": "192.0.2.2"}).status_code == 303


@pytest.mark.parametrize(("proxies", "secure"), [("10.0.0.5", True), ("", False)])
def test_the_cookie_is_secure_where_a_proxy_of_ours_speaks_https(
    proxies: str, secure: bool
) -> None:
    with opened(Console(proxies, "10.0.0.5")) as console:
        page = console.browser.get("/login", headers={"X-Forwarded-Proto": "https"})
        assert ("secure" in page.headers["set-cookie"].lower().split("; ")) is secure


@pytest.mark.parametrize("proxies", ["*", "0.0.0.0/0", "::/0", "nginx"])
def test_not_everybody_can_be_a_proxy(proxies: str) -> None:
    with pytest.raises(ValidationError):
        Console(proxies)


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(console: Console) -> None:
    cookie = console.login().headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_a_login_leads_to_our_own_pages_only(console: Console, elsewhere: str) -> None:
    page = console.browser.get("/login", params={"next": elsewhere}).text
    form = {"csrf": hidden(page, "csrf"), "reviewer": "Ana", "token": TOKEN, "next": elsewhere}
    answer = console.browser.post("/login", data=form, follow_redirects=False)
    assert answer.headers["location"] == "/review"


def test_a_link_to_a_case_survives_the_login(console: Console) -> None:
    case = console.add(verdict(1))
    page = console.browser.get(f"/cases/{case}").text
    assert hidden(page, "next") == f"/cases/{case}"


@pytest.mark.parametrize("token", ["", "0" * 64])
def test_a_form_of_another_site_does_nothing(console: Console, token: str) -> None:
    console.add(verdict(1))
    console.login()
    page = console.page()
    assert console.decide(page, csrf=token, decision="supports").status_code == 403
    assert console.publisher.published == []
    console.browser.post("/logout", data={"csrf": token})
    assert console.page()


@pytest.mark.parametrize("path", ["/login", "/review", "/static/console.js", "/nowhere", "/health"])
def test_every_answer_carries_the_security_headers(console: Console, path: str) -> None:
    answer = console.browser.get(path, follow_redirects=False)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == ("no-cache" if "static" in path else "no-store")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_help_explains_every_reason_and_every_key(console: Console) -> None:
    console.add(verdict(1))
    console.login()
    page = console.page("/help")
    for code, words in REASONS.items():
        assert f"<dt><code>{code}</code></dt>" in page
        assert words in html.unescape(page)
    case = console.page("/review?pool=stopped")
    for key in re.findall(r'data-key="(\w)"', case):
        assert f"<kbd>{key.upper()}</kbd>" in page


def test_no_page_holds_a_script_or_a_style_of_its_own(console: Console) -> None:
    console.add(verdict(1))
    console.login()
    for path in ("/review?pool=stopped", "/queue", "/decisions", "/measures", "/help", "/login"):
        page = console.page(path)
        assert re.findall(r"<script(?![^>]*src=)", page) == []
        assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []
        assert re.findall(r"(?:src|href)=\"https?:", page) == []


def test_a_form_that_is_too_large_or_of_unknown_length_is_refused(console: Console) -> None:
    large = console.browser.post("/login", data={"token": "x" * (MAX_BODY_BYTES + 1)})
    assert large.status_code == 413

    async def endless_body() -> AsyncIterator[bytes]:
        yield b"token=x"

    endless = console.browser.post("/login", content=endless_body())
    assert endless.status_code == 411


def test_a_case_shows_claim_quote_passage_scores_and_reason(console: Console) -> None:
    text = "The hearing was held on January 17, 2012 in Toronto before a panel of one."
    context = "The hearing was held on January 11, 2012"
    case = verdict(1, text=text, context=context, value={"yyyy": 2012, "mm": 1, "dd": 11})
    console.add(case, text)
    console.login()
    page = console.page()
    assert "January 11, 2012</span>" in page
    assert "January 1<del>1</del>, 2012" in page
    assert "January 1<ins>7</ins>, 2012" in page
    assert "<mark>The hearing was held on January 17, 2012</mark> in Toronto" in page
    assert "0.400, below 0.500" in page
    assert "unsupported" in page
    assert "prompt-of-" in page


def test_a_second_attempt_of_the_llm_is_said_and_a_first_is_not(console: Console) -> None:
    console.add(verdict(1))
    console.login()
    assert "asked again" not in console.page()
    again = verdict(2).model_copy(update={"attempt": 2})
    case = console.add(again)
    assert "attempt 2 · the LLM was asked again" in console.page(f"/cases/{case}")


def test_a_case_shows_the_kind_of_error_and_can_be_filtered_by_it(console: Console) -> None:
    typing = ErrorTyping(types=("misattribution",), typed_by="local", revision="1")
    console.add(verdict(1).model_copy(update={"error_types": typing}))
    console.login()
    page = console.page("/review?pool=stopped&error_type=misattribution")
    assert f"Perhaps: {DESCRIPTIONS['misattribution']} <code>misattribution</code>" in page
    assert '<option value="misattribution" selected>' in page
    assert "Perhaps:" not in console.page("/review?pool=stopped&error_type=procedural_error")


def test_a_claim_shows_what_is_not_supported_and_the_passages_consulted(console: Console) -> None:
    evidence = Evidence(
        unsupported=(UnsupportedSpan(start=0, end=3),),
        triples=(
            JudgedTriple(
                subject="Ann <b>", relation="met", object="Roe", status="missing_entity",
                missing=("Roe",),
            ),
        ),
        passages=(ConsultedPassage(passage=1, start=4, end=9, score=0.5),),
        measures={"EG": 0.5},
    )  # fmt: skip
    case = verdict(1, value="Ann Lee left").model_copy(update={"evidence": evidence})
    console.add(case)
    console.login()
    page = console.page()
    assert "not supported: <mark" in page
    assert "Ann</mark>" in page
    assert "Ann &lt;b&gt; — met — Roe" in page
    assert "nowhere in the context: Roe" in page
    assert "passage 2, characters 4–9, 0.50" in page
    assert "EG 0.50" in page
    drawn = page[page.index('<svg xmlns="http://www.w3.org/2000/svg"') :]
    assert "2 entities, 1 missing in the passages" in drawn
    assert "Ann &lt;b&gt;</text>" in drawn
    assert "Roe (missing)</text>" in drawn
    assert "<b>" not in drawn[: drawn.index("</svg>")]


def test_a_decision_is_saved_and_the_next_page_says_so(console: Console) -> None:
    console.add(verdict(1))
    console.login("Ana Reyes")
    answer = console.decide(console.page(), decision="supports")
    assert answer.status_code == 303
    (saved,) = console.publisher.to(REVIEWS)
    assert saved.reviewer == "Ana Reyes"
    page = console.page(answer.headers["location"])
    assert "Saved: <b>supports</b>" in page
    undone = console.browser.post(f"/reviews/{saved.id}/undo", data={"csrf": hidden(page, "csrf")})
    assert "Taken back" in undone.text
    assert [review.decision for review in console.publisher.to(REVIEWS)] == ["supports", "undone"]


def test_a_correction_that_is_none_comes_back_with_what_was_typed(console: Console) -> None:
    console.add(verdict(1, value=5))
    console.login()
    page = console.page()
    answer = console.decide(page, decision="corrected", value="five & more")
    assert answer.status_code == 422
    assert "five &amp; more" in answer.text
    assert 'role="alert"' in answer.text
    assert console.decide(page, decision="corrected", value="6").status_code == 303
    assert console.publisher.to(REVIEWS)[0].value == 6


def test_a_decision_that_kafka_does_not_take_is_said_not_to_be_saved(console: Console) -> None:
    console.add(verdict(1, value="Ann"))
    console.login()
    page = console.page()
    console.publisher.broken = True
    answer = console.decide(page, decision="corrected", value="Ann Leigh")
    assert answer.status_code == 503
    assert "Ann Leigh" in answer.text
    assert "Kafka does not take it" in answer.text


def test_an_unknown_decision_is_refused(console: Console) -> None:
    console.add(verdict(1))
    console.login()
    assert console.decide(console.page(), decision="undone").status_code == 404


def test_the_filter_is_kept_from_case_to_case(console: Console) -> None:
    console.add(verdict(2, entity_type="A & B"))
    console.login()
    page = console.page("/review?entity_type=A+%26+B&order=oldest")
    answer = console.decide(page, decision="supports", entity_type="A & B", order="oldest")
    assert "order=oldest&entity_type=A+%26+B&saved=" in answer.headers["location"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DocumentMissing("secret detail"), "DocumentMissing"),
        (DocumentMismatch("secret detail"), "DocumentMismatch"),
        (TimeoutError(), "did not come in time"),
        (OSError("secret detail"), "OSError"),
    ],
)
def test_a_text_that_cannot_be_had_is_said_so_and_the_case_can_be_judged(
    console: Console, error: Exception, said: str
) -> None:
    console.texts.error = error
    console.add(verdict(1))
    console.login()
    page = console.page()
    assert said in page
    assert "secret detail" not in page
    assert console.decide(page, decision="insufficient").status_code == 303


def test_a_passage_that_does_not_stand_in_the_text_is_not_marked(console: Console) -> None:
    console.add(verdict(1), "quite another text")
    console.login()
    page = console.page()
    assert "is not in the text" in page
    assert "<mark>" not in page


def test_hostile_content_is_harmless_wherever_it_stands(console: Console) -> None:
    one = verdict(
        1,
        text=HOSTILE * 3,
        context=HOSTILE[:-1] + "?",
        passage=HOSTILE,
        value={HOSTILE: HOSTILE},
        entity_type=HOSTILE,
        doc_id=HOSTILE,
        model=HOSTILE,
        extraction_id=HOSTILE,
    )
    case = console.add(one, HOSTILE * 3)
    console.login()
    pages = [console.page(path) for path in ("/review", "/queue", "/measures")]
    console.decide(pages[0], decision="supports")
    pages += [console.page(path) for path in ("/decisions", "/review", f"/cases/{case}")]
    for page in pages:
        assert "<script>alert" not in page
        assert "<img" not in page
        shown = re.sub(r'value="[^"]*"', "", page)  # fields hold texts as they are
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e]", shown)
    assert "{{ 7*7 }}" in pages[0]


def test_a_foreign_review_by_a_hostile_name_is_harmless(console: Console) -> None:
    case = console.add(verdict(1))
    console.login()
    page = console.page()
    console.desk.note_review(review(verdict(1), by=HOSTILE[:150]))
    pages = [console.page(f"/cases/{case}"), console.page("/review?pool=second")]
    answer = console.decide(page, decision="supports")
    assert answer.status_code == 409
    for shown in [*pages, answer.text]:
        assert "<script>alert" not in shown
        assert "\u202e" not in shown


def test_every_reason_has_words_for_a_reviewer() -> None:
    assert set(REASONS) == set(get_args(Reason))


def test_the_whole_document_is_nothing_but_text(console: Console) -> None:
    case = console.add(verdict(1, text=HOSTILE), HOSTILE)
    console.login()
    answer = console.browser.get(f"/cases/{case}/document")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text == HOSTILE


def test_a_document_that_is_one_long_line_costs_a_window_not_the_page(console: Console) -> None:
    text = "x" * 250_000 + "Ann Lee was the judge." + "y" * 250_000
    one = verdict(1, text=text, passage=text[:40], context="Ann Lee was the judge.")
    span = {"start": 250_000, "end": 250_022, "text": "Ann Lee was the judge."}
    fields = one.model_dump() | {"alignment": one.alignment.model_dump() | {"spans": [span]}}  # type: ignore[union-attr]
    case = console.add(Verdict.model_validate(fields), text)
    console.login()
    page = console.page()
    assert len(page) < 40_000
    assert "<mark>Ann Lee was the judge.</mark>" in page
    assert "249,300 characters" in page
    more = re.search(rf"/cases/{case}\?pool=stopped&amp;around=(\d+)", page)
    assert more
    assert len(console.page(f"/cases/{case}?around={more[1]}")) > len(page)
    assert len(console.page(f"/cases/{case}?around=99999999")) < 200_000


def test_a_case_that_another_reviewer_has_open_can_only_be_read(console: Console) -> None:
    case = console.add(verdict(1))
    console.login("Ana")
    console.page()
    console.browser.forget()
    console.login("Ben")
    page = console.page(f"/cases/{case}")
    assert "<bdi>Ana</bdi> has this case open" in page
    assert console.decide(page, decision="supports").status_code == 409


def test_reading_on_renews_the_lease_and_only_ones_own(console: Console) -> None:
    case = console.add(verdict(1))
    console.login("Ana")
    csrf = {"csrf": hidden(console.page(), "csrf")}
    assert console.browser.post(f"/cases/{case}/lease", data=csrf).status_code == 204
    assert console.browser.post("/cases/other/lease", data=csrf).status_code == 409


def test_until_the_topics_are_read_the_console_says_so(console: Console) -> None:
    console.desk.ready = False
    console.login()
    answer = console.browser.get("/review")
    assert answer.status_code == 503
    assert "Reading the topics" in answer.text


def test_health_and_metrics_need_no_login(console: Console) -> None:
    assert console.browser.get("/health").json()["healthy"] is True
    assert "safepassage_reviews" in console.browser.get("/metrics").text


def test_an_error_of_ours_says_nothing_of_what_was_in_hand(
    console: Console, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    console.add(verdict(1))
    console.login()

    def fail(*_: object) -> None:
        raise RuntimeError("the document says: secret")

    monkeypatch.setattr(console.desk, "next_case", fail)
    answer = console.browser.get("/review")
    assert answer.status_code == 500
    assert "secret" not in answer.text + "".join(capsys.readouterr())


def test_values_that_contradict_each_other_are_shown_together(console: Console) -> None:
    """Each links to the other; what a document says is only text."""
    one, other = conflicting("Ann", "<b>Bob</b>")
    shown, hidden = console.add(one), console.add(other)
    console.login()
    page = console.browser.get(f"/cases/{shown}").text
    assert "accepting one value refuses the others" in page
    assert f"/cases/{hidden}" in page
    assert "&lt;b&gt;Bob&lt;/b&gt;" in page
    assert "<b>Bob</b>" not in page


def test_a_decision_whose_verdict_kafka_refuses_says_that_it_is_not_in_force(
    console: Console,
) -> None:
    """On its case and among the reviewer's decisions."""
    case = console.add(verdict(1))
    console.login()
    console.decide(console.page(), decision="supports")
    console.publisher.refuse = lambda out: "RecordTooLarge" if out.topic is ACCEPTED else None
    asyncio.run(console.desk.publish_due())
    for path in ("/decisions", f"/cases/{case}"):
        page = console.page(path)
        assert "Kafka refuses its outcome (RecordTooLarge)" in page
    assert "refuses its outcome" not in console.page(f"/cases/{case}?pool=second")


def test_measures_show_what_is_promised_and_how_many_checks_it_wants(console: Console) -> None:
    console.add(verdict(1, score=0.9))
    console.login()
    page = console.browser.get("/measures").text
    assert "What is promised" in page
    assert "at most 5.0%" in page
    assert "59 more spot checks wanted" in page


def test_a_case_leads_to_all_of_its_document(console: Console) -> None:
    case = console.add(verdict(1, doc_id="a b&c"))
    other = console.add(verdict(2, doc_id="a b&c", value="Bo Lund"))
    console.add(verdict(3))
    console.login()
    link = re.search(
        r'id="all-of-document" href="([^"]+)"', console.browser.get(f"/cases/{case}").text
    )
    assert link is not None
    listed = console.browser.get(html.unescape(link.group(1))).text
    assert case in listed
    assert other in listed
    assert "doc-3" not in listed


def test_a_value_of_an_earlier_version_of_its_document_says_so(console: Console) -> None:
    former = FormerVerdict(verdict_id="the-former-verdict", extraction_id="e", document=None)
    console.add(verdict(1).model_copy(update={"former": former}))
    console.login()
    page = console.page()
    assert "accepted in an earlier version of this document" in page
    assert "the-former-verdict" in page
