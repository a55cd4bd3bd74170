"""Who has which case: in memory and in Redis the same, and what several consoles share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from safepassage.streams.agent_factory import redis_client
from safepassage.streams.console.leases import (
    ABANDONED_SECONDS,
    Leases,
    LeasesAway,
    RedisLeases,
)
from safepassage.streams.demo.embedded import free_port
from safepassage.streams.settings import Settings

SHORT = 0.02


def in_redis(settings: Settings, seconds: float = 300, *known: str) -> RedisLeases:
    client = redis_client(settings)
    return RedisLeases(client, settings.topic_prefix, seconds, lambda review: review in known)


@pytest.fixture(params=["memory", "redis"])
async def leases(request: pytest.FixtureRequest, kafka: Settings) -> AsyncIterator[Leases]:
    made: Leases = Leases(300) if request.param == "memory" else in_redis(kafka)
    yield made
    await made.close()


async def until_free(leases: Leases, case_id: str) -> None:
    for _ in range(500):
        if await leases.on(case_id) is None:
            return
        await asyncio.sleep(SHORT)
    raise AssertionError("the lease does not end")


async def test_a_case_is_with_one_session_at_a_time(leases: Leases) -> None:
    assert await leases.take("case", "ana", "Ana")
    assert await leases.take("case", "ben", "Ben") is None
    (lease,) = (await leases.leased()).values()
    assert (lease.holder, lease.reviewer) == ("ana", "Ana")


async def test_of_many_who_ask_at_once_one_gets_the_case(leases: Leases) -> None:
    asked = [leases.take("case", f"session-{n}", "R") for n in range(20)]
    assert sum(lease is not None for lease in await asyncio.gather(*asked)) == 1


async def test_a_session_that_takes_another_case_gives_back_the_first(leases: Leases) -> None:
    await leases.take("first", "ana", "Ana")
    await leases.take("second", "ana", "Ana")
    assert await leases.take("first", "ben", "Ben")
    assert {case: le.holder for case, le in (await leases.leased()).items()} == {
        "first": "ben",
        "second": "ana",
    }


async def test_cases_beside_the_open_one_are_held_until_all_are_released(leases: Leases) -> None:
    await leases.take("open", "ana", "Ana")
    await leases.take("rival", "ana", "Ana", beside=True)
    assert await leases.take("rival", "ben", "Ben") is None
    assert await leases.take("open", "ben", "Ben") is None
    await leases.release("ana")
    assert await leases.leased() == {}


async def test_what_is_opened_after_a_failed_decision_frees_the_rest(leases: Leases) -> None:
    await leases.take("rival", "ana", "Ana", beside=True)
    await leases.take("open", "ana", "Ana")
    assert await leases.take("rival", "ben", "Ben")


async def test_nobody_releases_what_another_has(leases: Leases) -> None:
    await leases.take("case", "ana", "Ana")
    await leases.release("ben")
    assert await leases.take("case", "ben", "Ben") is None


async def test_a_lease_ends_unless_it_is_renewed(leases: Leases) -> None:
    await leases.take("case", "ana", "Ana", seconds=SHORT)
    await leases.take("case", "ana", "Ana")
    await leases.take("other", "ben", "Ben", seconds=SHORT)
    await until_free(leases, "other")
    assert await leases.on("case")
    assert await leases.take("other", "ana", "Ana")


async def test_a_draw_stays_with_its_case_and_session_even_when_the_lease_ran_out(
    leases: Leases,
) -> None:
    await leases.take("case", "ana", "Ana", drawn='{"among": 3}', seconds=SHORT)
    await until_free(leases, "case")
    lease = await leases.take("case", "ana", "Ana", beside=True)
    assert lease is not None
    assert lease.drawn == '{"among": 3}'
    await leases.take("another", "ana", "Ana")
    chosen = await leases.take("case", "ana", "Ana")
    assert chosen is not None
    assert chosen.drawn == "", "it was left, and then a person chose it"
    await leases.take("case", "ana", "Ana", drawn='{"among": 2}', seconds=SHORT)
    await until_free(leases, "case")
    of_another = await leases.take("case", "ben", "Ben")
    assert of_another is not None
    assert of_another.drawn == ""


async def test_names_come_back_as_they_are(leases: Leases) -> None:
    lease = await leases.take("case", "ana", 'Ánà "\\ 安娜 {')
    assert lease is not None
    assert await leases.on("case") == lease


async def test_what_was_abandoned_is_forgotten_in_the_end() -> None:
    now = [0.0]
    leases = Leases(300, lambda: now[0])
    await leases.take("case", "ana", "Ana", drawn="{}")
    now[0] = 301 + ABANDONED_SECONDS
    await leases.take("other", "ben", "Ben")
    assert list(leases._held) == ["other"]


async def test_a_console_that_is_behind_gives_out_no_case_that_was_just_decided(
    kafka: Settings,
) -> None:
    async with AsyncExitStack() as resources:
        fast, slow = in_redis(kafka, 300, "review-1"), in_redis(kafka)
        for one in (fast, slow):
            resources.push_async_callback(one.close)
        assert await fast.take("case", "ana", "Ana")
        await fast.release("ana", {"case": "review-1"})
        assert await slow.take("case", "ben", "Ben") is None
        assert await slow.leased() == {}, "nor is it kept from those who know"
        assert await fast.take("case", "cleo", "Cleo")


async def test_leases_in_redis_end_with_their_consoles(kafka: Settings) -> None:
    leases = in_redis(kafka)
    await leases.take("case", "ana", "Ana")
    await leases.release("x", {"case": "review-1"})
    client = redis_client(kafka)
    keys = [key async for key in client.scan_iter(f"console:{{{kafka.topic_prefix}}}*")]
    assert len(keys) == 2
    assert all([await client.ttl(key) > 0 for key in keys])
    await client.aclose()
    await leases.close()


async def test_without_redis_nobody_gets_a_case(kafka: Settings) -> None:
    away = kafka.model_copy(update={"redis_url": _nobody()})
    leases = in_redis(away)
    for asked in (leases.take("case", "ana", "Ana"), leases.leased(), leases.release("ana")):
        with pytest.raises(LeasesAway, match="Redis"):
            await asked
    await leases.close()


async def test_what_is_no_lease_of_ours_is_no_free_case(kafka: Settings) -> None:
    leases = in_redis(kafka)
    client = redis_client(kafka)
    for planted in (b"no json", b'{"holder": 1}'):
        await client.hset(leases._leases, "case", planted)
        with pytest.raises(LeasesAway):
            await leases.leased()
        with pytest.raises(LeasesAway):
            await leases.take("case", "ana", "Ana")
    await client.aclose()
    await leases.close()


def _nobody() -> object:
    from pydantic import SecretStr

    return SecretStr(f"redis://127.0.0.1:{free_port()}/0")
