"""A worker process: one or several roles, from start to clean shutdown."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence

import structlog
from aiokafka.errors import KafkaError

from . import wiring
from .delivery.circuit_breaker import CircuitOpen
from .delivery.role_with_follower import Source
from .kafka.admin import create_topics, topic_problems
from .kafka.contact import contact
from .kafka.publisher import PublishFailed, open_publisher
from .kafka.reading import UnknownTopic
from .kafka.refusals import RIGHTS_ERRORS, check_rights, refusal
from .runtime.errors import OperatorError, frames
from .runtime.health import Stage, health_answered
from .runtime.progress import Progress
from .runtime.signals import Leave, stop_event, unless_stopped
from .settings import Settings
from .topics import ACCESS, WITH_REPORT, topics_of

log = structlog.get_logger(__name__)

# Errors whose messages we write, or that name hosts, topics and groups.
EXPECTED = (OperatorError, KafkaError, PublishFailed, CircuitOpen, UnknownTopic)
# Beyond the time for what is being handled, for clients that wait for a broker that is gone.
LEAVE_SECONDS = 5.0
# In all, where the broker is away: nothing can be published or committed then.
LEAVE_AWAY_SECONDS = 8.0


class RoleStopped(OperatorError):
    """A role ended by itself. Its message is one line for the operator."""


def run_worker(roles: Sequence[str], settings: Settings, *, alone: bool = False) -> None:
    """Run ``roles`` until SIGTERM or SIGINT; a second signal ends the process at once. With
    ``report`` go `WITH_REPORT`, unless it is ``alone``. Raises `RoleStopped` where a role failed;
    what it held was not committed and will be delivered again."""
    with_report = WITH_REPORT if "report" in roles and not alone else ()
    asyncio.run(_run(list(dict.fromkeys((*roles, *with_report))), settings))


async def _run(roles: Sequence[str], settings: Settings) -> None:
    within = settings.drain_seconds + LEAVE_SECONDS
    stop = stop_event(Leave(within, min(within, LEAVE_AWAY_SECONDS), lambda: contact.away))
    progress: list[Progress] = []  # of the roles that run

    def stage() -> Stage:
        if stop.is_set():
            return "draining"
        return "running" if progress else "starting"

    async with contextlib.AsyncExitStack() as resources:
        await resources.enter_async_context(health_answered(settings, progress, stage))
        sources = await unless_stopped(stop, _start(roles, settings, resources))
        if sources is None:
            log.info("stopped_while_starting", roles=list(roles))
        else:
            progress += [source.progress for source in sources]
            await _serve(sources, stop)


async def _start(
    roles: Sequence[str], settings: Settings, resources: contextlib.AsyncExitStack
) -> list[Source]:
    await prepare_topics(settings, roles)
    await _check_rights(settings, roles)
    publisher = await resources.enter_async_context(open_publisher(settings))
    return await wiring.sources(roles, publisher, settings, resources)


async def _check_rights(settings: Settings, roles: Sequence[str]) -> None:
    access = [ACCESS[role] for role in roles]
    topics = dict.fromkeys(settings.topic(topic.name) for a in access for topic in a.reads)
    groups = dict.fromkeys(settings.group(group) for a in access for group in a.groups)
    try:
        await check_rights(settings, topics, groups)
    except RIGHTS_ERRORS as error:
        raise RoleStopped(f"{', '.join(roles)}: {refusal(error)}") from error


async def prepare_topics(settings: Settings, roles: Sequence[str]) -> None:
    """See to it that the roles' topics exist, and warn of those that differ from the settings.

    Where one is missing, so may be those of other roles: all are created that may be. Raises
    `TopicsRefused` where a topic of these roles is missing and may not be created."""
    needed = topics_of(roles)
    created = await create_topics(settings, needed=needed)
    if created:
        log.info("topics_created", topics=created)
    for problem in await topic_problems(settings, needed):
        # What may not be read is the doctor's to say, once, and not every worker's.
        level = logging.WARNING if problem.severity == "failed" else logging.INFO
        log.log(level, "topic_problem", topic=problem.topic, problem=problem.problem)


async def _serve(sources: Sequence[Source], stop: asyncio.Event) -> None:
    tasks = {asyncio.create_task(source.run(stop)): source.progress.role for source in sources}
    log.info("worker_started", roles=list(tasks.values()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        told = stop.is_set()
        stop.set()
        await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
    _raise_first_failure(tasks)
    if not told:
        raise RoleStopped(f"{', '.join(tasks.values())}: a role ended that nobody had told to stop")
    log.info("worker_stopped", roles=list(tasks.values()))


def _raise_first_failure(tasks: dict[asyncio.Task[None], str]) -> None:
    for task, role in tasks.items():
        # All have ended and none was cancelled from here: one that was is a failure too.
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error:
            name = type(error).__name__
            if isinstance(error, EXPECTED):
                log.error("role_stopped", role=role, error=name, detail=str(error))
                told = refusal(error) or f"{name}: {error}"
                raise RoleStopped(f"{role}: {told}") from error
            # A defect of ours: what it says may quote a document, where it came from does not.
            log.error("role_stopped", role=role, error=name, frames=frames(error))
            raise RoleStopped(f"{role}: {name}, unexpected: see the frames in the log") from None
