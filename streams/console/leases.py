"""Who has which case open: in the memory of the one console, or in Redis for several.

A case is leased to one session. A session has one case open, and during a decision those beside it
that the decision refuses as well. Where Redis does not answer nobody gets a case, and nobody
decides: two people would work on one without knowing of each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from redis.exceptions import RedisError

if TYPE_CHECKING:
    from redis.asyncio import Redis

ABANDONED_SECONDS = 12 * 3600.0
"""A lease that ran out is remembered for so long, since its case may have been drawn by chance and
may still be decided."""
READ_WITHIN_SECONDS = 24 * 3600
"""For so long other consoles are told which review of a case was saved last."""


class LeasesAway(Exception):
    """It is not known who has which case. The message is for the reviewer."""


@dataclass(frozen=True, slots=True)
class Lease:
    """``holder`` is a session, ``reviewer`` the name to show to others. ``expires`` is in seconds
    on the clock of the leases. ``drawn`` is the draw by which the case came to the session, as
    JSON, "" where a person chose it; ``beside``: the session has it for the decision on another."""

    holder: str
    reviewer: str
    expires: float
    drawn: str = ""
    beside: bool = False


class Leases:
    """Of a console that is alone: after a restart every case is free again. Those of several raise
    `LeasesAway` in all methods. A lease runs for ``seconds`` where nothing else is said."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._held: dict[str, Lease] = {}

    async def take(
        self,
        case_id: str,
        holder: str,
        reviewer: str,
        *,
        drawn: str = "",
        beside: bool = False,
        seconds: float | None = None,
    ) -> Lease | None:
        """Lease a case to ``holder``, or renew its lease; None where another has it. Unless it is
        taken ``beside`` the one that is open, all else of the holder is released. A renewed lease
        keeps its draw unless there is another."""
        return await self._take(
            case_id, Lease(holder, reviewer, seconds or self._seconds, drawn, beside)
        )

    async def _take(self, case_id: str, wanted: Lease) -> Lease | None:
        """`take`; ``wanted`` expires in so many seconds from now."""
        now, before, holder = self._clock(), self._held.get(case_id), wanted.holder
        if before and before.holder != holder:
            if before.expires > now:
                return None
            before = None
        self._held = {
            c: lease
            for c, lease in self._held.items()
            if (wanted.beside or lease.holder != holder) and lease.expires + ABANDONED_SECONDS > now
        }
        drawn = wanted.drawn or (before.drawn if before else "")
        lease = replace(wanted, expires=now + wanted.expires, drawn=drawn)
        self._held[case_id] = lease
        return lease

    async def release(self, holder: str, saved: Mapping[str, str] | None = None) -> None:
        """``holder`` has no case any more. ``saved`` are the reviews that were, by case."""
        self._held = {c: lease for c, lease in self._held.items() if lease.holder != holder}

    async def close(self) -> None:
        self._held.clear()

    async def leased(self) -> dict[str, Lease]:
        """Every lease that runs, by case."""
        now = self._clock()
        return {c: lease for c, lease in self._held.items() if lease.expires > now}

    async def on(self, case_id: str) -> Lease | None:
        return (await self.leased()).get(case_id)


_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local case, holder, beside = ARGV[1], ARGV[2], ARGV[6] == '1'
local before = redis.call('HGET', KEYS[1], case)
before = before and cjson.decode(before)
if before and before.holder ~= holder then
  if before.expires > now then return {'', ''} end
  before = nil
end
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local other = cjson.decode(all[at + 1])
  if (not beside and other.holder == holder) or other.expires + ARGV[7] <= now then
    redis.call('HDEL', KEYS[1], all[at])
  end
end
local drawn = ARGV[5]
if drawn == '' and before then drawn = before.drawn end
local lease = cjson.encode({holder = holder, reviewer = ARGV[3], expires = now + ARGV[4],
                            drawn = drawn, beside = beside})
redis.call('HSET', KEYS[1], case, lease)
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return {lease, redis.call('GET', KEYS[2]) or ''}
"""
_RELEASE = """
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  if cjson.decode(all[at + 1]).holder == ARGV[1] then redis.call('HDEL', KEYS[1], all[at]) end
end
for at = 2, #KEYS do redis.call('SET', KEYS[at], ARGV[at + 1], 'EX', ARGV[2]) end
"""
_LEASE = TypeAdapter(Lease)


class RedisLeases(Leases):
    """Of all consoles that read the same topics: one hash, small as the number of reviewers.

    A console may be behind the topic, and would give out what another console just saved a decision
    on. So the last review that was saved on a case is kept beside, and a case is not given out, nor
    decided, before ``knows`` (has this console that review?) says so.
    """

    def __init__(
        self, redis: Redis, prefix: str, seconds: float, knows: Callable[[str], bool]
    ) -> None:
        super().__init__(seconds)
        self._redis = redis
        self._prefix = f"console:{{{prefix}}}"  # in braces: all keys in one slot of a cluster
        self._knows = knows
        self._taking = redis.register_script(_TAKE)
        self._releasing = redis.register_script(_RELEASE)

    async def close(self) -> None:
        await self._redis.aclose()

    async def _take(self, case_id: str, wanted: Lease) -> Lease | None:
        expires, abandoned = (int(s * 1000) for s in (wanted.expires, ABANDONED_SECONDS))
        arguments: list[str | int] = [case_id, wanted.holder, wanted.reviewer, expires]
        arguments += [wanted.drawn, int(wanted.beside), abandoned]
        keys = [self._leases, self._saved(case_id)]
        lease, saved = await _answer(self._taking(keys=keys, args=arguments))
        if not lease:
            return None
        if saved and not self._knows(saved.decode()):
            await self.release(wanted.holder)
            return None
        return _lease(lease)

    async def release(self, holder: str, saved: Mapping[str, str] | None = None) -> None:
        saved = saved or {}
        keys = [self._leases, *map(self._saved, saved)]
        arguments: list[str | int] = [holder, READ_WITHIN_SECONDS, *saved.values()]
        await _answer(self._releasing(keys=keys, args=arguments))

    async def leased(self) -> dict[str, Lease]:
        asked = self._redis.pipeline(transaction=False)
        asked.hgetall(self._leases)
        asked.time()
        found, (seconds, microseconds) = await _answer(asked.execute())
        now = seconds * 1000 + microseconds // 1000
        leases = {case.decode(): _lease(lease) for case, lease in found.items()}
        return {case: lease for case, lease in leases.items() if lease.expires > now}

    @property
    def _leases(self) -> str:
        return f"{self._prefix}:leases"

    def _saved(self, case_id: str) -> str:
        return f"{self._prefix}:saved:{case_id}"


def _lease(text: bytes) -> Lease:
    try:
        return _LEASE.validate_json(text)
    except ValidationError as error:
        raise LeasesAway("Cases cannot be given out: Redis holds no leases of ours.") from error


async def _answer(asked: Any) -> Any:
    try:
        return await asked
    except (RedisError, OSError) as error:
        raise LeasesAway(
            "Cases cannot be given out: Redis, which knows who has which, does not answer. "
            "Nothing was saved. Please try again in a while."
        ) from error
