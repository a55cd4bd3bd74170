"""``safepassage demo`` and ``safepassage up``."""

import asyncio
import os
import secrets
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence

from pydantic import SecretStr
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from safepassage.schemas import Coordinates, DeadLetter, Document, Response, Verdict
from safepassage.scoring_worker.scorer_spec import ScorerSpec

from ..kafka.admin import create_topics
from ..kafka.reading import read_topics
from ..kafka.records import decode
from ..offline.submit import is_reported, submit, wait_for_reports
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import ACCEPTED, QUARANTINE
from . import corpus
from .embedded import LOOPBACK, free_port
from .stack import CORPUS, LAST_LOGS, RunningStack, running_stack, sigterm_unwinds
from .verdict_tables import judged_answers, new_console, print_verdicts, submitted

DEMO_ROLES = ("extract", "align", "score", "report")
PATIENCE_SECONDS = 600.0
"""From one document's verdicts to the next. Before the first every model loads: in a fresh
environment on a busy machine that takes minutes."""


def run_demo() -> None:
    console = new_console()
    started = time.monotonic()
    console.print("starting an embedded broker, a Redis, a recorded LLM and the workers …")
    environment = corpus_schema() | graphs_of_claims()
    with sigterm_unwinds(), running_stack(DEMO_ROLES, environment) as stack:
        verdicts = asyncio.run(_flow(stack, console))
        kinds = {d.id: str((d.meta or {}).get("kind", "")) for d in corpus.documents()}
        seconds = time.monotonic() - started
        print_verdicts(console, verdicts, kinds, corpus.extractions(), seconds)
        console.print(judged_answers(verdicts))


def run_up(*, empty: bool = False) -> None:
    """The stack with the console until it is stopped; ``empty``: without documents and LLM."""
    console = new_console()
    port, token = free_port(), secrets.token_urlsafe(16)
    environment = {"SAFEPASSAGE_CONSOLE_PORT": str(port), "SAFEPASSAGE_CONSOLE_TOKEN": token}
    environment |= own_llm() if empty else corpus_schema()
    recording = None if empty else CORPUS
    roles = (*DEMO_ROLES, "review")
    with sigterm_unwinds(), running_stack(roles, environment, recording) as stack:
        asyncio.run(create_topics(stack.settings) if empty else _flow(stack, console))
        console.print(f"review console: http://{LOOPBACK}:{port}/   token: {token}")
        console.print("\nfor other commands, such as `safepassage doctor`, in your shell:")
        for line in exports(own_settings() | stack.environment):
            console.print(line, soft_wrap=True)
        console.print(f"logs             {stack.logs}, and after the end {LAST_LOGS}")
        console.print("Ctrl-C stops everything")
        while True:
            stack.processes.check()
            time.sleep(1)


def own_llm() -> dict[str, str]:
    """The endpoint of the user's LLM, and its model, which other commands ask for as well."""
    settings = Settings()
    if settings.openai_api_key is None and "openai_base_url" not in settings.model_fields_set:
        raise OperatorError(
            "no LLM is named: set OPENAI_API_KEY, or OPENAI_BASE_URL and SAFEPASSAGE_MODEL; or "
            "leave --empty out, for the bundled documents and a recording"
        )
    return {"OPENAI_BASE_URL": settings.openai_base_url, "SAFEPASSAGE_MODEL": settings.model}


def own_settings() -> dict[str, str]:
    """The settings in the user's environment but secrets: scorer, schema and packs decide in
    another shell too."""
    known = Settings()
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("SAFEPASSAGE_")
        and not isinstance(getattr(known, name.removeprefix("SAFEPASSAGE_").lower(), ""), SecretStr)
    }


def exports(environment: Mapping[str, str]) -> Iterator[str]:
    """What a shell has to be told to reach the stack, but for the console's settings."""
    for name, value in sorted(environment.items()):
        if not name.startswith("SAFEPASSAGE_CONSOLE_"):
            yield f"export {name}={shlex.quote(value)}"


def corpus_schema() -> dict[str, str]:
    """The corpus's own schema, unless the user's environment says what to extract."""
    settings = Settings()
    if settings.extraction_schema or settings.entity_types:
        return {}
    return {"SAFEPASSAGE_SCHEMA": str(corpus.SCHEMA)}


def graphs_of_claims() -> dict[str, str]:
    """The scorer that also draws what claims rest on, unless the environment names one."""
    if "scorer" in Settings().model_fields_set:
        return {}
    return {"SAFEPASSAGE_SCORER": str(ScorerSpec(Settings().scorer, graphs=True))}


async def _flow(stack: RunningStack, console: Console) -> list[Verdict]:
    await create_topics(stack.settings)
    events: Sequence[Document | Response] = (*corpus.documents(), *submitted())
    sending = submit(iter(events), stack.settings)
    pending = {p async for p, e in sending if isinstance(p, Coordinates) and is_reported(e)}
    letters = await _wait(stack, pending, console)
    for letter in letters:
        console.print(f"dead letter {letter.doc_id}: {letter.error}: {letter.detail}")
    return await _verdicts(stack.settings)


async def _wait(
    stack: RunningStack, pending: set[Coordinates], console: Console
) -> list[DeadLetter]:
    reports = asyncio.create_task(_reports(stack, pending, console))
    watch = asyncio.create_task(_watch_children(stack))
    try:
        ended, _ = await asyncio.wait((reports, watch), return_when=asyncio.FIRST_COMPLETED)
    finally:
        reports.cancel()
        watch.cancel()
        await asyncio.gather(reports, watch, return_exceptions=True)
    if watch in ended:
        watch.result()
    return reports.result()


async def _reports(
    stack: RunningStack, pending: set[Coordinates], console: Console
) -> list[DeadLetter]:
    letters: list[DeadLetter] = []
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(TextColumn("{task.description}"), *columns, console=console) as progress:
        bar = progress.add_task("documents with all their verdicts", total=len(pending))
        ending = wait_for_reports(pending, stack.settings)
        for ended in range(len(pending)):
            try:
                event = await asyncio.wait_for(anext(ending), PATIENCE_SECONDS)
            except TimeoutError:
                raise OperatorError(
                    f"{len(pending) - ended} of {len(pending)} documents have no verdicts, and "
                    f"none came for {PATIENCE_SECONDS:.0f} s; the workers' logs: {LAST_LOGS}"
                ) from None
            progress.advance(bar)
            if isinstance(event, DeadLetter):
                letters.append(event)
    return letters


async def _watch_children(stack: RunningStack) -> None:
    while True:
        stack.processes.check()
        await asyncio.sleep(0.5)


async def _verdicts(settings: Settings) -> list[Verdict]:
    found: dict[str, Verdict] = {}
    async for record in read_topics(settings, [ACCEPTED, QUARANTINE]):
        verdict = decode(record, Verdict).event
        found[verdict.id] = verdict
    return list(found.values())
