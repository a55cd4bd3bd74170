"""``check``: align and score files, without Kafka."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.output import complain
from streams.settings import settings

if TYPE_CHECKING:
    from schemas import Verdict

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models


def check(
    documents: Annotated[
        list[Path], typer.Option("--documents", "-d", help='JSON lines (.gz) of {"id","text"}.')
    ] = [],  # noqa: B006 - typer copies it
    extractions: Annotated[
        list[Path],
        typer.Option(
            "--extractions",
            "-e",
            help='JSON lines (.gz) of {"id","doc_id","entity_type","value","context"}.',
        ),
    ] = [],  # noqa: B006 - typer copies it
    responses: Annotated[
        list[Path],
        typer.Option("--responses", "-r", help='JSON lines (.gz) of {"id","context","response"}.'),
    ] = [],  # noqa: B006 - typer copies it
    scorer: Annotated[
        str | None, typer.Option("--scorer", "-s", help="A scorer's name or folder.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the verdicts go; stdout if omitted.")
    ] = None,
) -> None:
    """Align and score without Kafka. Exits 1 if a row of the input was refused."""
    if not (responses or (documents and extractions)):
        raise typer.BadParameter("give --documents with --extractions, or --responses")
    from safepassage.pipeline import new_aligner
    from scoring_worker import load_scorer
    from streams.offline.check import check as run_check
    from streams.offline.check import read_input

    given = read_input(documents, extractions, responses)
    for line in given.refused:
        complain.print(f"refused {line}", markup=False, soft_wrap=True)
    loaded = load_scorer(scorer or settings().scorer, packs=settings().packs)
    verdicts = run_check(given, new_aligner(settings()), loaded)
    _write(verdicts, out)
    counts = Counter(verdict.decision for verdict in verdicts)
    summary = ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
    complain.print(f"{len(verdicts)} verdicts: {summary or 'none'}")
    if given.refused:
        raise typer.Exit(1)


def _write(verdicts: list[Verdict], out: Path | None) -> None:
    with out.open("wb") if out else nullcontext(sys.stdout.buffer) as stream:
        stream.writelines(verdict.to_json() + b"\n" for verdict in verdicts)
        stream.flush()
