"""Every fault by name: what it does while the load is sent, and the run it needs."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import Callable
from dataclasses import replace

from aiokafka.admin import NewPartitions
from aiokafka.protocol.admin import DeleteGroupsRequest
from redis.asyncio import Redis

from safepassage.streams.agent_factory import redis_client
from safepassage.streams.kafka.clients import open_admin
from safepassage.streams.topics import DOCUMENTS
from tests.recorded_llm.faults import Fault as LlmFault
from tests.recorded_llm.faults import Faults

from .harness import Fault, Run, Shape
from .scorer import ScorerPlan
from .workers import ROLES, Plan, Sabotage


def _apart(*roles: str) -> tuple[tuple[str, ...], ...]:
    """Processes of their own for ``roles``, and one for the rest."""
    rest = tuple(role for role in ROLES if role not in roles)
    return (*((role,) for role in roles), rest)


CATALOGUE: dict[str, tuple[Fault, Shape]] = {}
"""Fault and shape by name."""


def names(*, several_brokers: bool) -> list[str]:
    """Of the faults that can be run, with several brokers or with the one that is embedded."""
    found = ((name, shape.several_brokers) for name, (_, shape) in CATALOGUE.items())
    return [name for name, needed in found if several_brokers or not needed]


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
    for _ in range(2):
        await _while_loaded(run)
        for link in run.links:
            link.cut()
        await asyncio.sleep(run.draw.uniform(0.5, 2.5))
        _mend(run)


def _mend(run: Run) -> None:
    for link in run.links:
        link.mend()


async def _slow_link(run: Run) -> None:
    for link in run.links:
        link.delay = 0.05
    await asyncio.sleep(4)
    _mend(run)


async def _throttled_link(run: Run) -> None:
    for link in run.links:
        link.bytes_per_second = 100_000
    await asyncio.sleep(4)
    _mend(run)


async def _silent_link(run: Run) -> None:
    await _while_loaded(run)
    for link in run.links:
        link.open.clear()
    await asyncio.sleep(4)
    _mend(run)


def _freeze_broker(seconds: float) -> Fault:
    """Of several brokers one, which then no longer leads where it did, if it is long enough."""

    async def fault(run: Run) -> None:
        await _while_loaded(run)
        broker = run.draw.choice(run.brokers)
        broker.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        broker.signal(signal.SIGCONT)

    return fault


async def _killed_broker(run: Run) -> None:
    """Killed and started again, twice; what it acknowledged is in its storage. The link to the
    embedded one goes first: killed in the middle of a write, it leaves a hole in its log and never
    reads past it, which Kafka does."""
    for _ in range(2):
        await _while_loaded(run)
        broker = run.draw.choice(run.brokers)
        if not run.cluster:
            run.links[0].cut()
            await asyncio.sleep(0.5)
        broker.signal(signal.SIGKILL)
        await asyncio.sleep(run.draw.uniform(0.5, 2.5))
        broker.start()
        _mend(run)


def _kill_brokers(count: int, seconds: float) -> Fault:
    """Several at once: of three, two are one more than may be missing for a write."""

    async def fault(run: Run) -> None:
        await _while_loaded(run)
        killed = run.draw.sample(run.brokers, count)
        for broker in killed:
            broker.signal(signal.SIGKILL)
        await asyncio.sleep(seconds)
        for broker in killed:
            broker.start()

    return fault


async def _rolled_brokers(run: Run) -> None:
    """Each is stopped as an upgrade does it, and started again, before the next one is."""
    assert run.cluster
    for node in run.cluster.cluster.nodes:
        await asyncio.to_thread(node.stop)
        node.start()
        await asyncio.to_thread(run.cluster.cluster.wait)


async def _cut_broker_link(run: Run) -> None:
    """No other broker copies from it for longer than they are counted in sync."""
    assert run.cluster
    await _while_loaded(run)
    link = run.draw.choice(run.cluster.inner)
    link.cut()
    await asyncio.sleep(15)
    link.mend()


async def _full_disk(run: Run) -> None:
    assert run.cluster
    await _while_loaded(run)
    node = run.draw.choice(run.cluster.cluster.nodes)
    node.fill_disk()
    await asyncio.sleep(10)
    node.signal(signal.SIGKILL)  # unless it gave up by itself
    node.start()


async def _more_partitions(run: Run) -> None:
    await _while_loaded(run)
    async with open_admin(run.settings) as admin:
        more = {run.settings.topic(DOCUMENTS.name): NewPartitions(run.settings.partitions + 2)}
        await admin.create_partitions(more)


async def _lost_offsets(run: Run) -> None:
    """What a group committed is gone, as after seven days without a member."""
    worker, group = run.worker("align"), run.settings.group("align")
    await worker.stop()
    async with open_admin(run.settings) as admin:
        for _ in range(30):  # until the coordinator knows that the group is empty
            coordinator = await admin.find_coordinator(group)
            answer = await admin._send_request(DeleteGroupsRequest([group]), coordinator)
            if not answer.results[0][1]:
                break
            await asyncio.sleep(1)
    worker.start()


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
    "broker-frozen": _freeze_broker(3),
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
for _name, _fault in {
    "leader-frozen": _freeze_broker(20),
    "brokers-rolled": _rolled_brokers,
    "brokers-below-min-isr": _kill_brokers(2, 5),
    "brokers-all-killed": _kill_brokers(3, 3),
    "broker-link-cut": _cut_broker_link,
    "broker-disk-full": _full_disk,
    "partitions-added": _more_partitions,
    "offsets-lost": _lost_offsets,
}.items():
    _add(_name, _fault, Shape(several_brokers=True, crews=_apart("align"), seconds=4, patience=400))
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
