"""Every fault by name: what it does while the load is sent, and the run it needs."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import Callable
from dataclasses import replace

from redis.asyncio import Redis

from safepassage.streams.agent_factory import redis_client
from safepassage.streams.demo.recorded_llm.faults import Fault as LlmFault
from safepassage.streams.demo.recorded_llm.faults import Faults

from .harness import Fault, Run, Shape
from .scorer import ScorerPlan
from .workers import ROLES, Plan, Sabotage


def _apart(*roles: str) -> tuple[tuple[str, ...], ...]:
    """Processes of their own for ``roles``, and one for the rest."""
    rest = tuple(role for role in ROLES if role not in roles)
    return (*((role,) for role in roles), rest)


CATALOGUE: dict[str, tuple[Fault, Shape]] = {}
"""Fault and shape by name."""


def _add(name: str, fault: Fault, shape: Shape | None = None) -> None:
    CATALOGUE[name] = fault, shape or Shape()


async def _nothing(_run: Run) -> None:
    pass


async def _while_loaded(run: Run) -> None:
    """A moment in the load, drawn from the seed."""
    await asyncio.sleep(run.draw.uniform(0.1, 1.5))


def _kill(role: str, number: signal.Signals) -> Fault:
    async def fault(run: Run) -> None:
        for _ in range(2):
            await run.output(role, run.draw.randint(1, 20))
            run.worker(role).send(number)

    return fault


def _kill_while_loaded(role: str) -> Fault:
    """Twice, whatever it writes at the moment."""

    async def fault(run: Run) -> None:
        for _ in range(2):
            await _while_loaded(run)
            run.worker(role).send(signal.SIGKILL)

    return fault


def _freeze(role: str) -> Fault:
    """Longer than the session: the group goes on without the member, which then wakes up."""

    async def fault(run: Run) -> None:
        run.add_worker(role)
        await run.output(role, run.draw.randint(1, 20))
        run.worker(role).send(signal.SIGSTOP)
        await asyncio.sleep(3 * run.settings.kafka_session_timeout_seconds)
        run.worker(role).send(signal.SIGCONT)

    return fault


async def _rebalance_storm(run: Run) -> None:
    for _ in range(3):
        joined = [run.add_worker(role) for role in ("extract", "align", "score")]
        await asyncio.sleep(run.draw.uniform(0.3, 1.5))
        await asyncio.gather(*(worker.stop() for worker in joined))


async def _scale_out_and_in(run: Run) -> None:
    """1, 2, 4 and again 1 process of each role that reads partitions."""
    joined = []
    for more in (1, 2):
        joined += [run.add_worker(r) for _ in range(more) for r in ("extract", "align", "score")]
        await asyncio.sleep(1.5)
    await asyncio.gather(*(worker.stop() for worker in joined))


async def _cut_link(run: Run) -> None:
    assert run.link
    for _ in range(2):
        await _while_loaded(run)
        run.link.cut()
        await asyncio.sleep(run.draw.uniform(0.5, 2.5))
        run.link.mend()


async def _slow_link(run: Run) -> None:
    assert run.link
    run.link.delay = 0.05
    await asyncio.sleep(4)
    run.link.mend()


async def _throttled_link(run: Run) -> None:
    assert run.link
    run.link.bytes_per_second = 100_000
    await asyncio.sleep(4)
    run.link.mend()


async def _silent_link(run: Run) -> None:
    assert run.link
    await _while_loaded(run)
    run.link.open.clear()
    await asyncio.sleep(4)
    run.link.mend()


async def _frozen_broker(run: Run) -> None:
    await _while_loaded(run)
    assert run.broker
    run.broker.signal(signal.SIGSTOP)
    await asyncio.sleep(3)
    run.broker.signal(signal.SIGCONT)


async def _killed_broker(run: Run) -> None:
    """Killed and started again, twice; what it acknowledged is in its storage. The link goes
    first: killed in the middle of a write, this broker leaves a hole in its log and never reads
    past it, which Kafka does."""
    assert run.broker
    assert run.link
    for _ in range(2):
        await _while_loaded(run)
        run.link.cut()
        await asyncio.sleep(0.5)
        run.broker.signal(signal.SIGKILL)
        await asyncio.sleep(run.draw.uniform(0.5, 2.5))
        run.broker.start()
        run.link.mend()


async def _redis_away(run: Run) -> None:
    await _while_loaded(run)
    async with redis_client(run.settings) as redis:
        await redis.client_pause(4_000)
    await asyncio.sleep(4)


async def _redis_flushed(run: Run) -> None:
    async with redis_client(run.settings) as redis:
        for _ in range(20):
            await redis.flushall()
            await asyncio.sleep(0.15)


async def _redis_lies(run: Run) -> None:
    """Every text under a document's key is replaced by that of another document."""
    async with redis_client(run.settings) as redis:
        for _ in range(30):
            await _swap_texts(redis)
            await asyncio.sleep(0.1)


async def _swap_texts(redis: Redis) -> None:
    keys = [key async for key in redis.scan_iter("document:*")]
    for key, other in itertools.pairwise(keys):
        if (text := await redis.get(other)) is not None:
            await redis.set(key, text)


def _unwritable(topic: str) -> tuple[Fault, Shape]:
    """The broker refuses every record for ``topic`` for a while."""

    async def fault(run: Run) -> None:
        flag = run.folder / "unwritable"
        flag.touch()
        await asyncio.sleep(3)
        flag.unlink()

    def plan(plan: Plan) -> Plan:
        return replace(plan, unwritable=(topic,), while_there=plan.log.parent / "unwritable")

    poison = [(b"poison", b"{")] * 3
    return fault, Shape(plan=plan, extra=poison if topic == "dead-letters" else ())


async def _scorer_upgrade(run: Run) -> None:
    await _while_loaded(run)
    old = run.worker("score")
    await old.stop()
    upgraded = run.add_worker("score")
    upgraded.plan = replace(upgraded.plan, scorer=ScorerPlan(revision="r2"))


def _llm(*kinds: LlmFault, rate: float = 0.4, **options: float) -> Shape:
    faults = Faults(rate=rate, kinds=kinds, retry_after=0.2, **options)  # type: ignore[arg-type]
    return Shape(
        documents=20, llm=faults, settings={"breaker_consecutive": 1000, "breaker_ratio": 1.0}
    )


POISON = [
    (b"poison", b"{not json"),
    (b"poison", b'{"id":"x","text":"t","version":99}'),
    (b"poison", b'{"id":"x","text":"' + b"5 MB of text " * 400_000 + b'"}'),
    (b"poison", None),
    (None, b"\xff\xfe\x00"),
    (b"poison", b'{"id":"x","text":"\\ud800 alone"}'),
    (b"poison", b'{"id":"x","text":"   "}'),
    (b"\xff\xff", b"[" * 100_000),
]

for _role in ROLES:
    _shape = Shape(documents=60, crews=_apart(_role), seconds=4)
    _add(f"sigkill-{_role}", _kill(_role, signal.SIGKILL), _shape)
    _add(f"sigterm-{_role}", _kill(_role, signal.SIGTERM), _shape)
    if _role != "report":  # whose member reads its partitions alone
        _add(f"freeze-{_role}", _freeze(_role), _shape)
_add("no-fault", _nothing)
_add("sigkill-all", _kill("extract", signal.SIGKILL), Shape(seconds=4))
_add("rebalance-storm", _rebalance_storm, Shape(seconds=5))
_add("scale-out-and-in", _scale_out_and_in, Shape(documents=80, seconds=4))
for _name, _fault in {
    "link-cut": _cut_link,
    "link-slow": _slow_link,
    "link-throttled": _throttled_link,
    "link-silent": _silent_link,
    "broker-frozen": _frozen_broker,
    "redis-away": _redis_away,
    "redis-flushed": _redis_flushed,
    "redis-lies": _redis_lies,
}.items():
    _add(_name, _fault, Shape(own_servers=True, seconds=3))
_add(
    "broker-killed",
    _killed_broker,
    Shape(documents=16, own_servers=True, durable=True, seconds=4, patience=400),
)
# Without texts of its own the aligner has to ask Redis.
for _name in ("redis-away", "redis-flushed", "redis-lies"):
    _fault, _shape = CATALOGUE[_name]
    CATALOGUE[_name] = (
        _fault,
        replace(_shape, crews=_apart("align"), settings={"local_text_bytes": 0}),
    )
_add("llm-429", _nothing, _llm(LlmFault.RATE_LIMIT))
_add("llm-500", _nothing, _llm(LlmFault.SERVER_ERROR))
_add("llm-hangs", _nothing, _llm(LlmFault.HANG, rate=0.2))
_add("llm-drips", _nothing, _llm(LlmFault.DRIP, rate=0.2))
_add("llm-malformed", _nothing, _llm(LlmFault.MALFORMED, LlmFault.MISMATCH, LlmFault.GARBAGE))
_add("llm-truncated", _nothing, _llm(LlmFault.TRUNCATED, LlmFault.REFUSAL))
_add("poison-messages", _nothing, Shape(extra=POISON))
_add("poison-pairs", _nothing, Shape(poison_pairs=True))
_add("dead-letters-unwritable", *_unwritable("dead-letters"))
_add("quarantine-unwritable", *_unwritable("quarantine"))
_add("duplicate-sends", _nothing, Shape(documents=20, copies=3))
_add("scorer-upgrade", _scorer_upgrade, Shape(crews=_apart("score"), seconds=3))
_add("hot-key", _kill("align", signal.SIGKILL), Shape(keys=1, crews=_apart("align"), seconds=4))
_add(
    "versions", _kill("extract", signal.SIGKILL), Shape(keys=5, crews=_apart("extract"), seconds=4)
)
for _role in ("align", "score", "report"):
    _add(
        f"realign-sigkill-{_role}",
        _kill_while_loaded(_role),
        Shape(keys=5, realign=True, crews=_apart(_role), seconds=4),
    )
_add(
    "slow-scorer",
    _nothing,
    Shape(
        documents=200,
        seconds=0.5,
        plan=lambda plan: replace(plan, scorer=ScorerPlan(seconds_per_pair=0.01)),
    ),
)
_add("burst", _nothing, Shape(documents=400, seconds=0.2))


def sabotaged(name: str, sabotage: Sabotage | None, scorer: ScorerPlan) -> tuple[Fault, Shape]:
    """The fault ``name`` with a safeguard switched off, for negative controls."""
    fault, shape = CATALOGUE[name]
    impair: Callable[[Plan], Plan] = lambda plan: replace(  # noqa: E731 - it closes over both
        plan, sabotage=sabotage, scorer=scorer
    )
    return fault, replace(shape, plan=impair, patience=15)
