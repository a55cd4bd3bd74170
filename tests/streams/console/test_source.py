"""The review role on a broker: what it reads, what it leaves, how it starts and ends."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack

import httpx2
import pytest

from safepassage.schemas import Review
from safepassage.streams import agent_factory as configured
from safepassage.streams.console import ReviewSource
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.point_reader import point_reader
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, READ_BY, REVIEWS
from tests.streams.doubles import FakePublisher

from .cases import review, verdict
from .running import (
    PATIENCE_SECONDS,
    TOKEN,
    console_settings,
    outcomes,
    put,
    reviews,
    running_console,
)


class Reviewer:
    """A logged-in browser without a screen."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def login(self, name: str) -> None:
        page = (await self._client.get("/login")).text
        form = {"csrf": field(page, "csrf"), "token": TOKEN, "reviewer": name}
        await self._client.post("/login", data=form)

    async def next_page(self, path: str = "/review?pool=stopped") -> str:
        """The next case, once the console has read its topics."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            answer = await self._client.get(path)
            while answer.status_code == 503:
                answer = await self._client.get(path)
        return answer.text

    async def decide(self, page: str, decision: str, **more: str) -> httpx2.Response:
        case = re.search(r'data-case="(\w+)"', page)
        assert case
        form = {name: field(page, name) for name in ("csrf", "seen", "opened")}
        return await self._client.post(
            f"/cases/{case[1]}/decision", data=form | {"decision": decision} | more
        )


def field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found
    return found[1]


def browser(address: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=address, follow_redirects=True)


async def test_decisions_survive_a_restart_and_reach_those_downstream(kafka: Settings) -> None:
    settings = console_settings(kafka)
    await put(settings, [verdict(n, value=f"v{n}") for n in range(3)])
    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        await reviewer.decide(await reviewer.next_page(), "supports")
        await reviewer.decide(await reviewer.next_page(), "corrected", value="better")
        (first, second) = await outcomes(settings, ACCEPTED, 2)
        await client.get("/login")  # a browser that logs in anew gives back its case
    assert {first.reasons, second.reasons} == {("review_confirmed",), ("review_corrected",)}
    assert [made.decision for made in await reviews(settings)] == ["supports", "corrected"]

    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        page = await reviewer.next_page()
        assert '<b id="left">1</b> case left' in page
        await reviewer.decide(page, "insufficient")
        assert "Nothing to judge" in await reviewer.next_page()
    assert len(await outcomes(settings, ACCEPTED, 2)) == 2


async def test_an_outcome_that_a_killed_console_owed_is_published_by_the_next(
    kafka: Settings,
) -> None:
    settings = console_settings(kafka)
    await put(settings, [verdict(1)])
    producer = new_producer(settings)
    await producer.start()
    await producer.send_and_wait(
        settings.topic(REVIEWS.name), review(verdict(1)).to_json(), key=b"doc-1"
    )
    await producer.stop()
    async with running_console(settings):
        (accepted,) = await outcomes(settings, ACCEPTED, 1)
    assert accepted.review is not None
    assert accepted.review.reviewer == "Ana"


async def test_what_comes_while_the_console_runs_is_in_the_queue(kafka: Settings) -> None:
    settings = console_settings(kafka)
    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        assert "Nothing to judge" in await reviewer.next_page()
        await put(settings, [verdict(1)])
        async with asyncio.timeout(PATIENCE_SECONDS):
            while "data-case" not in await reviewer.next_page():
                continue


async def test_records_that_nobody_can_read_stop_nothing_and_are_logged_by_place(
    kafka: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = console_settings(kafka)
    await create_topics(settings)
    producer = new_producer(settings)
    await producer.start()
    for topic in READ_BY["review"]:
        for value in (b"not json: secret", b"{}", None, b"\xff\xfe"):
            await producer.send_and_wait(settings.topic(topic.name), value, key=b"k")
    await producer.stop()
    await put(settings, [verdict(1)])
    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        assert "data-case" in await reviewer.next_page()
    said = "".join(capsys.readouterr())
    assert said.count("unreadable_record") == 16
    assert "secret" not in said


async def test_a_generated_token_is_shown_once_on_stdout_and_opens_the_console(
    kafka: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = console_settings(kafka, console_token=None)
    async with running_console(settings) as address, browser(address) as client:
        out = capsys.readouterr().out
        shown = re.search(r"review console: (\S+)  token: (\S{32,})\n", out)
        assert shown
        assert shown[1] == f"{address}/"
        assert out.count(shown[2]) == 1
        page = (await client.get("/login")).text
        form = {"csrf": field(page, "csrf"), "token": shown[2], "reviewer": "Ana"}
        assert "Ana" in (await client.post("/login", data=form)).text


async def test_a_configured_token_is_not_shown(
    kafka: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = console_settings(kafka)
    async with running_console(settings):
        pass
    assert TOKEN not in "".join(capsys.readouterr())


async def test_an_address_that_is_taken_is_one_line_for_the_operator(kafka: Settings) -> None:
    settings = console_settings(kafka)
    async with running_console(settings), AsyncExitStack() as resources:
        store = await configured.document_store(settings, resources)
        points = point_reader(settings, resources)
        second = ReviewSource(FakePublisher(), settings, store, points)
        with pytest.raises(OperatorError, match="SAFEPASSAGE_CONSOLE_PORT"):
            await second.run(asyncio.Event())


async def test_the_console_joins_no_consumer_group_and_commits_nothing(kafka: Settings) -> None:
    settings = console_settings(kafka)
    await put(settings, [verdict(1)])
    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        await reviewer.decide(await reviewer.next_page(), "supports")
    left = [r.value async for r in read_topics(settings, [REVIEWS])]
    assert [Review.model_validate_json(v).reviewer for v in left if v] == ["Ana"]
