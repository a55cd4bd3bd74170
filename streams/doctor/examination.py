"""What is between this configuration and a running pipeline, and what to do about it.

Every check ends in a `Diagnosis`, regardless of what happens inside: a doctor that crashes helps
nobody.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Literal

from aiokafka import TopicPartition

from ..kafka.admin import alter_settings, committed_offsets, create_topics, topic_problems
from ..kafka.clients import open_admin, ssl_context
from ..kafka.reading import ends, read_erasures, read_topics, tails
from ..kafka.refusals import refusal
from ..runtime.errors import OperatorError
from ..sealing.frame import KeysUnusable
from ..settings import Settings
from ..topics import ACCEPTED, ACCESS, DOCUMENTS, QUARANTINE, READ_BY, REPORTS, ROLE_NAMES
from .services import (
    PROBE_SECONDS,
    Diagnosis,
    check_llm,
    check_model,
    check_redis,
    first_line,
    of_skew,
)

PATIENCE_SECONDS = 20.0


Check = Callable[[Settings], Awaitable[list[Diagnosis]]]


Alteration = Literal["no", "told", "done"]
"""Whether topics get the settings that mend them: not at all, said beforehand, or now."""


async def diagnose(
    settings: Settings, *, create_missing_topics: bool = False, alteration: Alteration = "no"
) -> AsyncIterator[Diagnosis]:
    """Run all checks, one after the other; each takes a bounded time.

    What needs the broker, or its topics, is left out where it is missing.
    """
    broker = await check_broker(settings)
    yield broker
    checks: list[tuple[str, Check]] = []
    if broker.state == "ok":
        if create_missing_topics:
            checks.append(("topics", create_missing))
        if alteration != "no":
            checks.append(("topics", partial(alter, apply=alteration == "done")))
        checks += [("topics", check_topics), ("erasures", check_erasures)]
        checks.append(("groups", check_groups))
    checks += [("redis", check_redis), ("model", check_model), ("llm", check_llm)]
    for subject, check in checks:
        diagnoses = await _bounded(subject, check, settings)
        for diagnosis in diagnoses:
            yield diagnosis
        if check is check_topics and not needs_mending(diagnoses):
            for diagnosis in await _bounded("clock", check_record_clock, settings):
                yield diagnosis


async def check_broker(settings: Settings) -> Diagnosis:
    """Whether a Kafka client can talk to the cluster, and if not, how far it gets."""
    where = settings.kafka_bootstrap_servers
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            async with open_admin(settings) as admin:
                cluster = await admin.describe_cluster()
    except Exception as error:  # noqa: BLE001 - a failed login comes as KeyError out of aiokafka
        return await _why_no_broker(settings, error)
    return Diagnosis("broker", "ok", f"{where} answers; {len(cluster['brokers'])} broker(s)")


async def create_missing(settings: Settings) -> list[Diagnosis]:
    created = await create_topics(settings)
    return [Diagnosis("topics", "ok", f"created {', '.join(created)}")] if created else []


async def alter(settings: Settings, *, apply: bool) -> list[Diagnosis]:
    """What settings topics would get, or got, that mend them where nothing can be lost by it."""
    found = [problem for problem in await topic_problems(settings) if problem.setting]
    if found and apply:
        await alter_settings(settings, found)
    told = []
    for problem in found:
        key, value = problem.setting or ("", "")
        what = f"{problem.topic} {'got' if apply else 'would get'} {key}={value}"
        told.append(Diagnosis("topics", "ok", f"{what} ({problem.problem})"))
    return told


async def check_topics(settings: Settings) -> list[Diagnosis]:
    """Whether every topic exists, with the partitions of the settings, and keeps what it must."""
    problems = await topic_problems(settings)
    if not problems:
        return [Diagnosis("topics", "ok", f"all there, {settings.partitions} partitions each")]
    return [
        Diagnosis("topics", one.severity, f"{one.topic} {one.problem}", one.remedy)
        for one in problems
    ]


async def check_erasures(settings: Settings) -> list[Diagnosis]:
    """Whether every erasure was finished, and where records are sealed, whether they can be."""
    try:
        known = await read_erasures(settings, anew=True)
    except KeysUnusable as error:
        return [Diagnosis("keys", "failed", first_line(error), "correct SAFEPASSAGE_KEYS_FILE")]
    found = []
    if known.seals and not known.seals.tree.nodes:
        remedy = "run `safepassage keys create` once"
        found.append(Diagnosis("keys", "failed", "there are no keys to seal with", remedy))
    elif known.seals:
        found.append(Diagnosis("keys", "ok", f"wrapped by {known.seals.masters.first}"))
    if begun := sum(erasure.done_at is None for erasure in known.erasures.values()):
        problem = f"{begun} erasures began and did not end"
        found.append(Diagnosis("erasures", "warning", problem, "run `safepassage erase`"))
    return found


async def check_groups(settings: Settings) -> list[Diagnosis]:
    """Whether a role that reads has no position in some partitions with records."""
    roles = [role for role in ROLE_NAMES if ACCESS[role].groups]
    reach = await ends(settings, list(dict.fromkeys(t for role in roles for t in READ_BY[role])))
    wanted: dict[str, list[TopicPartition]] = {}
    for role in roles:
        names = {settings.topic(topic.name) for topic in READ_BY[role]}
        wanted[role] = [tp for tp, end in reach.items() if tp.topic in names and end]
    found = []
    for name, done in (await committed_offsets(settings, wanted)).items():
        unread = sorted(f"{tp.topic}-{tp.partition}" for tp in wanted[name] if tp not in done)
        if done and unread:
            problem = f"{name} has read nothing of {', '.join(unread)}, which have records"
            remedy = "if it is still so in a minute, restart the role; its /health names partitions"
            found.append(Diagnosis("groups", "warning", problem, remedy))
    return found


async def check_record_clock(settings: Settings) -> list[Diagnosis]:
    """Whether a record is stamped with a time that is still to come."""
    topics = DOCUMENTS, ACCEPTED, QUARANTINE, REPORTS
    records = read_topics(settings, topics, start=await tails(settings, topics, 1))
    newest = max([record.timestamp async for record in records], default=None)
    if newest is None:
        return [Diagnosis("clock", "ok", "no records yet to compare this machine's clock with")]
    ahead = newest / 1000 - time.time()
    return [of_skew(ahead if ahead > 0 else 0.0, "the newest record")]


async def _bounded(subject: str, check: Check, settings: Settings) -> list[Diagnosis]:
    # The model takes its time to load, and no network is waited for there.
    patience = None if subject == "model" else PATIENCE_SECONDS
    try:
        async with asyncio.timeout(patience):
            return await check(settings)
    except TimeoutError:
        return [Diagnosis(subject, "failed", f"no answer within {patience} s", "see the above")]
    except Exception as error:  # noqa: BLE001 - a doctor that crashes helps nobody
        found = refusal(error) or f"{type(error).__name__}: {first_line(error)}"
        remedy = "the broker answers, but not to this: are this user's rights sufficient?"
        return [Diagnosis(subject, "failed", found, remedy)]


async def _why_no_broker(settings: Settings, error: BaseException) -> Diagnosis:
    server = settings.kafka_bootstrap_servers.split(",")[0].strip()
    host, _, port = server.rpartition(":")
    protocol = settings.kafka_security_protocol
    if told := refusal(error):
        found, _, remedy = told.partition(": ")
        return Diagnosis("broker", "failed", f"{server}: {found}", remedy or found)
    problem = await asyncio.to_thread(_probe_server, host.strip("[]"), port, settings)
    if problem:
        return Diagnosis("broker", "failed", f"{server}: {problem[0]}", problem[1])
    found = f"{server} listens, but does not talk Kafka over {protocol}: {type(error).__name__}"
    then = (
        "then SAFEPASSAGE_KAFKA_USERNAME, _PASSWORD and _SASL_MECHANISM"
        if protocol.startswith("SASL")
        else "a listener with TLS or a login hangs up on clients without"
    )
    remedy = f"compare SAFEPASSAGE_KAFKA_SECURITY_PROTOCOL with the listener's; {then}"
    return Diagnosis("broker", "failed", found, remedy)


def _probe_server(host: str, port: str, settings: Settings) -> tuple[str, str] | None:
    """What is wrong below Kafka's protocol, with its remedy; None if nothing is."""
    try:
        with socket.create_connection((host, int(port)), PROBE_SECONDS) as connection:
            if context := ssl_context(settings):
                with context.wrap_socket(connection, server_hostname=host):
                    pass
    except ssl.SSLError as error:
        return (
            f"TLS fails: {getattr(error, 'verify_message', '') or error.reason or error}",
            "SAFEPASSAGE_KAFKA_CA_FILE must hold the authority that signed the broker's "
            "certificate, and the certificate must name the host; for mutual TLS also set "
            "SAFEPASSAGE_KAFKA_CERTIFICATE_FILE and _KEY_FILE",
        )
    except OperatorError as error:
        return str(error), "correct the setting, or put the file there"
    except (OSError, ValueError) as error:
        return (
            f"cannot be reached: {first_line(error)}",
            "start the broker, or set KAFKA_BOOTSTRAP_SERVERS to host:port of one",
        )
    return None


def needs_mending(diagnoses: Sequence[Diagnosis]) -> bool:
    """Whether something failed; warnings are for later."""
    return any(diagnosis.state == "failed" for diagnosis in diagnoses)
