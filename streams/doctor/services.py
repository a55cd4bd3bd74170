"""The doctor's checks of Redis, the model and the LLM endpoint."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from redis.exceptions import AuthenticationError, RedisError

from ..settings import Settings

PROBE_SECONDS = 5.0
MAX_SKEW_SECONDS = 5.0

State = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The outcome of one check. ``remedy`` says what to do where ``state`` is not "ok"."""

    subject: str
    state: State
    found: str
    remedy: str = ""


def of_skew(seconds: float, other: str) -> Diagnosis:
    """The diagnosis of a clock that is ``seconds`` ahead of ours."""
    if abs(seconds) <= MAX_SKEW_SECONDS:
        return Diagnosis("clock", "ok", f"within {MAX_SKEW_SECONDS:.0f} s of {other}")
    direction = "behind" if seconds > 0 else "ahead of"
    return Diagnosis(
        "clock",
        "failed",
        f"this machine's clock is {abs(seconds):.1f} s {direction} {other}",
        "let NTP set the clocks of all machines: retention, `replay --since` and latencies "
        "rest on the records' times",
    )


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__


OPENAI_URL = "https://api.openai.com/v1"


async def check_redis(settings: Settings) -> list[Diagnosis]:
    """Whether Redis answers, is bounded, evicts, and shares our time."""
    from ..agent_factory import redis_client  # noqa: PLC0415 - imports the roles' libraries

    client = redis_client(settings)
    try:
        memory, stats = await client.info("memory"), await client.info("stats")
        seconds, microseconds = await client.time()
    except AuthenticationError:
        remedy = "put the password into REDIS_URL: rediss://USER:PASSWORD@HOST:PORT/0"
        return [Diagnosis("redis", "failed", "refuses the user or the password", remedy)]
    except (RedisError, OSError) as error:
        found = f"cannot be reached: {type(error).__name__}: {first_line(error)}"
        remedy = (
            "start Redis, or set REDIS_URL; for rediss:// with an own authority also "
            "SAFEPASSAGE_REDIS_CA_FILE. Without Redis every document is read again from Kafka"
        )
        return [Diagnosis("redis", "failed", found, remedy)]
    finally:
        with suppress(RedisError, OSError):
            await client.aclose()
    skew = seconds + microseconds / 1e6 - time.time()
    return [_of_redis_memory(memory, stats), of_skew(skew, "Redis")]


async def check_model(settings: Settings) -> list[Diagnosis]:
    """Whether the scorer loads and scores, and which revision it is."""
    try:
        revision = await asyncio.to_thread(_probe_scorer, settings.judge)
    except (ImportError, LookupError, OSError, RuntimeError, ValueError) as error:
        found = f"scorer {settings.judge!r} cannot be used: {first_line(error)}"
        remedy = (
            "set SAFEPASSAGE_SCORER to a scorer's name or to a folder that holds its "
            "scorer.json and weights"
        )
        return [Diagnosis("model", "failed", found, remedy)]
    return [Diagnosis("model", "ok", f"scorer {settings.judge!r} loads, revision {revision}")]


async def check_llm(settings: Settings) -> list[Diagnosis]:
    """Whether the LLM endpoint answers, takes the key, and has the model."""
    if settings.openai_api_key is None and settings.openai_base_url == OPENAI_URL:
        found = "no endpoint is configured: the role `extract` cannot run"
        remedy = "set OPENAI_API_KEY, or OPENAI_BASE_URL to any OpenAI-compatible endpoint"
        return [Diagnosis("llm", "warning", found, remedy)]
    from safepassage.llm_calls.client import configured_client  # noqa: PLC0415 - slow to import

    client = configured_client(settings, timeout=PROBE_SECONDS)
    try:
        return [await _ask_llm(client, settings)]
    finally:
        await client.close()


def _of_redis_memory(memory: dict[str, Any], stats: dict[str, Any]) -> Diagnosis:
    limit, policy = int(memory.get("maxmemory", 0)), str(memory.get("maxmemory_policy", "?"))
    evicted = int(stats.get("evicted_keys", 0))
    if not limit:
        found = "answers, but its memory is not bounded"
        remedy = "CONFIG SET maxmemory 1gb and maxmemory-policy allkeys-lru: it is a cache"
    elif policy == "noeviction":
        found = "is bounded, but refuses new texts when it is full (noeviction)"
        remedy = "CONFIG SET maxmemory-policy allkeys-lru: it is a cache, and texts have a TTL"
    elif evicted:
        found = f"has evicted {evicted} keys: texts are read again from Kafka, which costs time"
        remedy = "raise maxmemory, or lower SAFEPASSAGE_TEXT_TTL_SECONDS"
    else:
        found = f"answers; {limit // 2**20} MiB, {policy}, nothing evicted"
        return Diagnosis("redis", "ok", found)
    return Diagnosis("redis", "warning", found, remedy)


def _probe_scorer(name: str) -> str:
    from safepassage.schemas import CLAIM_TYPE  # noqa: PLC0415 - only here
    from safepassage.scoring_worker import Pair, load_scorer  # noqa: PLC0415 - takes seconds to import

    scorer = load_scorer(name)
    try:
        pair = Pair("The hearing was held on May 3, 2012.", "Date: May 3, 2012", "Date", "May 3")
        said = "The hearing was held on May 3, 2012."
        claim = Pair(pair.premise, said, CLAIM_TYPE, said)
        for assessment in scorer.assess([pair, claim]):
            if assessment.failure:
                raise RuntimeError(f"it cannot score: {assessment.failure}")
        return scorer.revision
    finally:
        scorer.close()


async def _ask_llm(client: Any, settings: Settings) -> Diagnosis:
    import openai  # noqa: PLC0415 - slow to import

    parts = urlsplit(settings.openai_base_url)  # some put a password before the host
    where = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    try:
        return await _list_models(client, settings.model, where)
    except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
        found = f"refuses the key (status {error.status_code})"
        remedy = "set OPENAI_API_KEY to a key of this endpoint that is allowed to use the model"
    except openai.APIConnectionError as error:
        found = f"cannot be reached: {first_line(error.__cause__ or error)}"
        remedy = "set OPENAI_BASE_URL, and check the way there: proxy, firewall, certificate"
    except openai.APIStatusError as error:
        found = f"answers with status {error.status_code}"
        remedy = (
            "is OPENAI_BASE_URL complete (it usually ends in /v1), SAFEPASSAGE_MODEL right, and "
            "the account in credit?"
        )
    except openai.OpenAIError as error:
        found = f"gives no usable answer: {type(error).__name__}"
        remedy = "OPENAI_BASE_URL must be an OpenAI-compatible endpoint"
    return Diagnosis("llm", "failed", f"{where} {found}", remedy)


async def _list_models(client: Any, model: str, where: str) -> Diagnosis:
    """Ask for the models, which costs nothing; where they are not listed, for one word."""
    import openai  # noqa: PLC0415 - slow to import

    try:
        names = [listed.id async for listed in client.models.list()]
    except (openai.NotFoundError, openai.UnprocessableEntityError):
        await client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Say yes."}], max_tokens=1
        )
        return Diagnosis("llm", "ok", f"{where} answers with {model}")
    if model in names:
        return Diagnosis("llm", "ok", f"{where} takes the key and has {model}")
    return Diagnosis(
        "llm",
        "warning",
        f"{where} takes the key, but does not list the model {model}",
        f"set SAFEPASSAGE_MODEL to one that it lists, e.g. {', '.join(names[:3]) or 'none'}",
    )
