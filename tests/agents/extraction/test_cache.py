"""Answers in Redis, so that a redelivered document yields the same again."""

from __future__ import annotations

from collections import Counter

import pytest
import redis.asyncio
import zstandard

from safepassage.agents.extraction.answers import Answer, Finding
from safepassage.agents.extraction.cache import CachedAnswer, CacheKey, ExtractionCache
from safepassage.schemas import Usage, stable_id

KEY = CacheKey(
    document_digest="d", model="m", prompt_digest="p", schema_digest="s", chunking="10/2"
)
ANSWER = Answer((Finding("Rent", {"a": 1}, "Rent: 1"),), Counter(no_value=1))
CACHED = CachedAnswer.of(KEY, ANSWER, Usage(input_tokens=3))


async def test_an_answer_comes_back_as_it_was(redis_client):
    cache = ExtractionCache(redis_client, ttl=100)
    assert await cache.get(KEY) is None
    assert await cache.keep(CACHED) == CACHED
    cached = await cache.get(KEY)
    assert cached == CACHED
    assert cached.answer == ANSWER
    assert 90 < await redis_client.ttl(KEY.name) <= 100


async def test_the_first_of_two_answers_counts(redis_client):
    cache = ExtractionCache(redis_client)
    second = CACHED.model_copy(update={"rows": []})
    await cache.keep(CACHED)
    assert await cache.keep(second) == CACHED


@pytest.mark.parametrize("field", CacheKey.model_fields)
async def test_a_key_depends_on_all_that_an_answer_depends_on(redis_client, field):
    cache = ExtractionCache(redis_client)
    await cache.keep(CACHED)
    assert await cache.get(KEY.model_copy(update={field: "other"})) is None


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"garbage",
        zstandard.compress(b"{}"),
        zstandard.compress(CACHED.model_dump_json().encode())[:-5],
        zstandard.compress(b" " * 20_000_000),
        zstandard.compress(
            CACHED.model_copy(update={"key": KEY.model_copy(update={"model": "x"})})
            .model_dump_json()
            .encode()
        ),
        zstandard.compress(CACHED.model_dump_json().replace("Rent", "\\ud800").encode()),
    ],
)
async def test_what_was_tampered_with_is_a_miss(redis_client, stored):
    await redis_client.set(KEY.name, stored)
    cache = ExtractionCache(redis_client)
    assert await cache.get(KEY) is None
    assert await cache.keep(CACHED) == CACHED


async def test_without_redis_there_is_no_cache_and_no_error():
    client = redis.asyncio.Redis(host="127.0.0.1", port=1)
    cache = ExtractionCache(client)
    assert await cache.get(KEY) is None
    assert await cache.keep(CACHED) == CACHED
    await client.aclose()


async def test_a_record_may_have_an_answer_of_its_own_and_the_other_keys_stay(redis_client):
    """The names of the keys are those of before: an upgrade does not pay for every document."""
    parts = ("d", "m", "p", "s", "10/2", "", "")
    assert KEY.name == "extraction:" + stable_id("cached", *parts)
    cache = ExtractionCache(redis_client)
    own = CACHED.model_copy(update={"key": KEY.model_copy(update={"record": "a/0/7"}), "rows": []})
    await cache.keep(CACHED)
    assert await cache.keep(own) == own
    assert await cache.get(KEY) == CACHED
