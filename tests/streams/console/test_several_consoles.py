"""Two console processes behind one address: each reviewer may be answered by either."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from pydantic import SecretStr

from safepassage.schemas import Review, Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.streams.agent_factory import redis_client
from safepassage.streams.console.index.case_filter import CaseFilter
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.leases import Lease, LeasesAway, RedisLeases
from safepassage.streams.console.review_desk import CaseTaken, ReviewDesk
from safepassage.streams.console.review_source import _leases
from safepassage.streams.demo.embedded import embedded_redis, free_port
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DECISIONS, REVIEWS
from tests.streams.doubles import FakePublisher

from .cases import conflicting, verdict
from .running import PATIENCE_SECONDS, console_settings, outcomes, put, reviews, running_console
from .test_review_desk import ANA, BEN, STOPPED, answer
from .test_source import Reviewer, browser


class Balanced(httpx2.AsyncBaseTransport):
    """A load balancer that remembers nobody: every request goes to the other console."""

    def __init__(self, ports: tuple[int, int]) -> None:
        self._ports, self._next = ports, 0
        self._http = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._next = 1 - self._next
        request.url = request.url.copy_with(port=self._ports[self._next])
        return await self._http.handle_async_request(request)

    async def aclose(self) -> None:
        await self._http.aclose()


@asynccontextmanager
async def two_consoles(settings: Settings) -> AsyncIterator[list[httpx2.AsyncClient]]:
    """Browsers of two people in front of both."""
    other = settings.model_copy(update={"console_port": free_port()})
    ports = settings.console_port, other.console_port
    async with running_console(settings) as address, running_console(other):
        people = [
            httpx2.AsyncClient(base_url=address, follow_redirects=True, transport=Balanced(ports))
            for _ in range(2)
        ]
        try:
            yield people
        finally:
            for person in people:
                await person.aclose()


async def settled(client: httpx2.AsyncClient) -> None:
    """Both consoles have read their topics."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while {(await client.get("/queue")).status_code for _ in range(2)} != {200}:
            continue


async def test_reviewers_behind_one_address_share_the_work(kafka: Settings) -> None:
    settings, cases = console_settings(kafka), 6
    await put(settings, [verdict(n) for n in range(cases)])
    async with two_consoles(settings) as people:
        ana, ben = (Reviewer(client) for client in people)
        await ana.login("Ana")
        await ben.login("Ben")
        await settled(people[0])
        pages = await asyncio.gather(ana.next_page("/review"), ben.next_page("/review"))
        open_cases = [re.findall(r'data-case="(\w+)"', page)[0] for page in pages]
        assert open_cases[0] != open_cases[1]
        assert open_cases[0] in await ana.next_page("/review"), "by the other console as well"
        for _ in range(cases // 2):
            for reviewer in (ana, ben):
                answered = await reviewer.decide(await reviewer.next_page("/review"), "supports")
                assert answered.status_code == 200
        assert "Nothing to judge" in await ana.next_page("/review")
        accepted = await outcomes(settings, ACCEPTED, cases)
    made = await reviews(settings)
    assert len({case_id(one.verdict) for one in made}) == len(made) == cases
    assert all(one.draw for one in made), (
        "a draw comes along to the console that saves the decision"
    )
    assert len({one.id for one in accepted}) == cases


async def test_an_undo_reaches_the_other_console(kafka: Settings) -> None:
    settings = console_settings(kafka, console_grace_seconds=3600.0)
    await put(settings, [verdict(1)])
    async with two_consoles(settings) as (client, _):
        ana = Reviewer(client)
        await ana.login("Ana")
        await settled(client)
        await ana.decide(await ana.next_page(), "supports")
        (made,) = await reviews(settings)
        page = await ana.next_page("/decisions")
        while made.id not in page:  # the one that did not save it reads it from its topic
            page = await ana.next_page("/decisions")
        csrf = re.findall(r'name="csrf" value="([^"]*)"', page)[0]
        for _ in range(2):
            await client.post(f"/reviews/{made.id}/undo", data={"csrf": csrf})
        assert [one.decision for one in await reviews(settings)] == ["supports", "undone"]


async def test_without_redis_nothing_is_given_out_and_nothing_saved(kafka: Settings) -> None:
    with embedded_redis() as address:
        settings = console_settings(kafka, redis_url=SecretStr(address))
        await put(settings, [verdict(1)])
        async with running_console(settings) as at, browser(at) as client:
            ana = Reviewer(client)
            await ana.login("Ana")
            page = await ana.next_page()
            assert "data-case" in page
            client_of_redis = redis_client(settings)
            await client_of_redis.shutdown(nosave=True)
            await client_of_redis.aclose()
            refused = await client.get("/review")
            assert refused.status_code == 503
            assert "Cases cannot be given out" in refused.text
            decided = await ana.decide(page, "supports")
            assert decided.status_code == 503
            assert "Nothing was saved" in decided.text
            assert await reviews(settings) == []
            assert (await client.get("/health")).status_code == 200
            csrf = re.findall(r'name="csrf" value="([^"]*)"', page)[0]
            out = await client.post("/logout", data={"csrf": csrf})
            assert "/login" in str(out.url), "nobody is kept in by that"


def desks(kafka: Settings, *verdicts: Verdict) -> tuple[list[ReviewDesk], FakePublisher]:
    """Two consoles that read nothing of each other until they are told, with one broker."""
    settings, publisher = kafka.model_copy(update={"console_grace_seconds": 0}), FakePublisher()
    made = []
    for _ in range(2):
        store = CaseStore(0)
        made.append(ReviewDesk(store, publisher, settings, leases=_leases(settings, store)))
        for at, one in enumerate(verdicts):
            made[-1].note_verdict(one, at)
    return made, publisher


async def end(*all_desks: ReviewDesk) -> None:
    for desk in all_desks:
        await desk.leave()
        await desk.leases.close()
        desk.store.close()


async def test_a_case_that_one_console_gave_out_is_refused_by_the_other(kafka: Settings) -> None:
    (one, other), publisher = desks(kafka, verdict(1))
    case = await one.next_case(ANA, STOPPED)
    assert case is not None
    assert await other.next_case(BEN, STOPPED) is None
    with pytest.raises(CaseTaken, match="Ana has this case open"):
        await other.decide(BEN, answer(case.id))
    await one.decide(ANA, answer(case.id))
    # The other has not read the review yet, and still takes the case for open.
    assert other.store.case(case.id).standing is None
    assert await other.next_case(BEN, STOPPED) is None
    with pytest.raises(CaseTaken):
        await other.decide(BEN, answer(case.id))
    assert len(publisher.to(REVIEWS)) == 1
    other.note_review(publisher.to(REVIEWS)[0])
    assert (await other.open_case(BEN, case.id))[1]
    await end(one, other)


async def test_a_case_that_is_decided_elsewhere_while_it_is_leased_is_not_given_out(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one, other), publisher = desks(kafka, verdict(1))
    case = await one.next_case(ANA, STOPPED)
    assert case is not None
    await one.decide(ANA, answer(case.id))
    lease = other.leases.take

    async def late(*of: str, **more: str) -> Lease | None:
        other.note_review(publisher.to(REVIEWS)[0])
        return await lease(*of, drawn=more["drawn"])

    monkeypatch.setattr(other.leases, "take", late)
    assert await other.next_case(BEN, STOPPED) is None
    assert await other.leases.leased() == {}
    await end(one, other)


async def test_values_in_conflict_are_not_accepted_by_two_consoles_at_once(
    kafka: Settings,
) -> None:
    first, second = conflicting("Ann", "Bob")
    (one, other), publisher = desks(kafka, first, second)
    both = one.decide(ANA, answer(case_id(first))), other.decide(BEN, answer(case_id(second)))
    said = await asyncio.gather(*both, return_exceptions=True)
    assert sum(isinstance(answered, CaseTaken) for answered in said) >= 1
    accepting = [out for out in publisher.to(REVIEWS) if out.decision == "supports"]
    assert len(accepting) <= 1
    await end(one, other)


async def test_a_refused_decision_gives_the_rivals_back(kafka: Settings) -> None:
    first, second, third = conflicting("Ann", "Bob", "Eve")
    (one, other), _ = desks(kafka, first, second, third)
    await other.open_case(BEN, case_id(third))
    with pytest.raises(CaseTaken, match="Ben has a value open"):
        await one.decide(ANA, answer(case_id(first)))
    assert set(await one.leases.leased()) == {case_id(first), case_id(third)}
    await end(one, other)


async def test_one_console_publishes_for_all_and_another_when_it_ends(kafka: Settings) -> None:
    (one, other), _ = desks(kafka)
    assert [await one.leads(), await other.leads(), await one.leads()] == [True, False, True]
    await one.leave()
    assert await other.leads()
    await end(one, other)


async def test_an_outcome_that_two_consoles_publish_is_one(kafka: Settings) -> None:
    """As when the one that led was asleep for longer than its lease."""
    (one, other), publisher = desks(kafka, verdict(1))
    saved = await one.decide(ANA, answer(case_id(verdict(1))))
    other.note_review(saved)
    await one.publish_due()
    await other.publish_due()
    for topic in (ACCEPTED, DECISIONS):
        twice = publisher.to(topic)
        assert len(twice) == 2
        assert twice[0] == twice[1]
    for event in publisher.to(ACCEPTED):
        for desk in (one, other):
            desk.note_verdict(event, 10)
    for decision in publisher.to(DECISIONS):
        for desk in (one, other):
            desk.note_decision(decision)
    before = len(publisher.published)
    await one.publish_due()
    await other.publish_due()
    assert len(publisher.published) == before, "nobody answers a repetition"
    await end(one, other)


async def test_leases_are_in_redis_where_one_is_named() -> None:
    store = CaseStore(0)
    assert not isinstance(_leases(Settings(), store), RedisLeases)
    named = _leases(Settings(redis_url=SecretStr("redis://localhost:1/0")), store)
    assert isinstance(named, RedisLeases)
    with pytest.raises(LeasesAway):
        await named.leased()
    await named.close()
    store.close()


async def test_a_case_that_others_keep_taking_is_not_waited_for_for_ever(kafka: Settings) -> None:
    (one, other), _ = desks(kafka, *[verdict(n) for n in range(30)])
    for number in range(30):  # decided elsewhere, and not read here yet
        await other.leases.release("x", {case_id(verdict(number)): f"review-{number}"})
    with pytest.raises(LeasesAway, match="Please try again"):
        await one.next_case(ANA, CaseFilter())
    assert await one.leases.leased() == {}
    await end(one, other)


async def test_one_who_decides_twice_at_once_decides_once(kafka: Settings) -> None:
    (one, other), publisher = desks(kafka, verdict(1))
    twice = [one.decide(ANA, answer(case_id(verdict(1)))) for _ in range(2)]
    said = await asyncio.gather(*twice, return_exceptions=True)
    assert [type(answered) for answered in said].count(Review) == 1
    assert len(publisher.to(REVIEWS)) == 1
    await end(one, other)
