"""``bench``: open-loop load through a deployment, with latencies and the bottleneck."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from ..runtime.errors import OperatorError
from ..settings import settings
from .options import JsonFile
from .output import complain, open_outputs, print_table, write_figures

if TYPE_CHECKING:
    from safepassage.schemas import Document

    from ..bench.figures import BenchFigures


Rate = Annotated[list[float], Option("--rate", "-r", help="Documents a second; may be repeated.")]
Embedded = Annotated[
    bool, Option("--embedded", help="Through a stack of its own, with a recorded LLM.")
]
Yes = Annotated[
    bool, Option("--yes", help="A deployment keeps the benchmark's documents and verdicts.")
]
Documents = Annotated[
    Path | None,
    Option("--documents", "-d", help="Files or JSON lines; the bundled ones if omitted."),
]
Metrics = Annotated[
    list[str] | None,
    Option(help="A worker's /metrics, for how busy its roles are; may be repeated."),
]
Length = Annotated[int, Option(help="Texts a document has, the first with its extractions.", min=1)]
Entities = Annotated[
    float, Option(help="Share of extractions that --embedded keeps.", min=0.01, max=1)
]
Drain = Annotated[float, Option(help="Seconds to wait for what is left after a rate.", min=0)]


def bench(
    *,
    rate: Rate,
    seconds: Annotated[float, Option(help="How long each rate lasts.", min=1)] = 60,
    embedded: Embedded = False,
    yes: Yes = False,
    documents: Documents = None,
    metrics: Metrics = None,
    length: Length = 1,
    entities: Entities = 1.0,
    drain: Drain = 60,
    seed: Annotated[int, Option(help="Of the arrivals' times.")] = 1,
    json_file: JsonFile = None,
) -> None:
    """Send documents at a rate that no completion slows down, and say what becomes of them.

    Prints throughput, percentiles from the broker's acceptance to the last verdict, how busy each
    role is and what it has not done, and the bottleneck. Every document has a text of its own, so
    that no cache answers; an LLM that costs money is asked for each. Exits 1 if a document had no
    verdict in the end.
    """
    from ..bench.load import Workload
    from ..bench.run import BenchRequest, bench_deployment, bench_embedded
    from ..demo import corpus

    open_outputs(files=[json_file])
    if not all(one > 0 for one in rate):
        raise typer.BadParameter("more than 0", param_hint="--rate")
    if embedded and documents:
        raise typer.BadParameter(
            "the recorded LLM answers for the bundled documents only", param_hint="--documents"
        )
    if not embedded and not yes:
        raise OperatorError(
            f"this writes documents and verdicts into {settings().kafka_bootstrap_servers} for "
            "good, and its LLM is asked for each: give --yes, or --embedded"
        )
    request = BenchRequest(rate, seconds, drain=drain, seed=seed, metrics=tuple(metrics or ()))
    if documents:
        workload = Workload(_read(documents), (), length)
    else:
        workload = Workload(corpus.documents(), corpus.extractions(), length, entities)
    found = (
        bench_embedded(request, workload, _tell)
        if embedded
        else bench_deployment(request, workload, settings(), _tell)
    )
    _print(found)
    write_figures(json_file, found)
    if any(figures.ended < figures.documents for figures in found):
        raise typer.Exit(1)


def _read(path: Path) -> list[Document]:
    from safepassage.files import Rejected
    from safepassage.schemas import Document

    from ..offline.documents import read_documents

    found = list(read_documents([path], settings()))
    for rejected in found:
        if isinstance(rejected, Rejected):
            complain.print(f"left out: {rejected}")
    kept = [document for document in found if isinstance(document, Document)]
    if not kept:
        raise OperatorError(f"{path} holds no document")
    return kept


def _tell(figures: BenchFigures) -> None:
    complain.print(
        f"{figures.rate:g}/s: {figures.ended} of {figures.documents} documents ended, "
        f"p99 {_time(figures.end_to_end['p99'])}"
    )


def _print(found: list[BenchFigures]) -> None:
    waits = ("p50", "p90", "p99", "max")
    rates = ["rate", "sent", "ended", "failed", "docs/s", "verdicts/s"]
    print_table(
        "documents, seconds from acceptance to last verdict",
        (*rates, *waits, "late p99", "bottleneck"),
        [
            (
                f"{one.rate:g}",
                *map(str, (one.documents, one.ended, one.failed)),
                f"{one.documents_per_second:.2f}",
                f"{one.verdicts_per_second:.1f}",
                *(_time(one.end_to_end[name]) for name in waits),
                _time(one.late["p99"]),
                one.bottleneck or ("none" if one.kept_up else "not known"),
            )
            for one in found
        ],
    )
    print_table(
        "roles",
        ("rate", "role", "busy", "records/s", "s/record", "CPU s/record", "lag"),
        [
            (
                f"{one.rate:g}",
                role.role,
                _figure(role.busy, ".0%"),
                _figure(role.records_per_second, ".3g"),
                _figure(role.seconds_per_record, ".3g"),
                _figure(role.cpu_seconds_per_record, ".3g"),
                _figure(role.lag, "d"),
            )
            for one in found
            for role in one.roles
        ],
    )


def _figure(value: float | None, style: str) -> str:
    return "" if value is None else f"{value:{style}}"


def _time(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.2f}"
