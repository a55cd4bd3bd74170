"""``check``: align and score files, without Kafka."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safepassage.streams.cli.options import ScorerName
from safepassage.streams.cli.output import complain, file_or_stdout, open_outputs
from safepassage.streams.settings import settings

if TYPE_CHECKING:
    from safepassage.schemas import Document, Verdict
    from safepassage.streams.offline.evidence_boxes import EvidenceBoxes


def check(  # noqa: PLR0917 - typer's options
    documents: Annotated[
        list[Path],
        typer.Option(
            "--documents",
            "-d",
            help='JSON lines (.gz) of {"id", "text"}; or files and folders as `submit` reads them.',
        ),
    ] = [],
    extractions: Annotated[
        list[Path],
        typer.Option(
            "--extractions",
            "-e",
            help='JSON lines (.gz) of {"id", "doc_id", "entity_type", "value", "context"}.',
        ),
    ] = [],
    responses: Annotated[
        list[Path],
        typer.Option(
            "--responses", "-r", help='JSON lines (.gz) of {"id", "context", "response"}.'
        ),
    ] = [],
    scorer: ScorerName = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the verdicts go; stdout if omitted.")
    ] = None,
    boxes: Annotated[
        Path | None,
        typer.Option(help="Where the boxes of the evidence go, for documents with a layout."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Where the documents go with their verdicts, as one page to look at."),
    ] = None,
) -> None:
    """Align and score without Kafka. Exits 1 if a row of the input was refused."""
    if not (responses or (documents and extractions)):
        raise typer.BadParameter("give --documents with --extractions, or --responses")
    from safepassage.pipeline import new_aligner
    from safepassage.schemas import Document
    from safepassage.scoring_worker import load_scorer
    from safepassage.scoring_worker.error_types.verdict_errors import typing_of
    from safepassage.streams.offline.check import check as run_check
    from safepassage.streams.offline.check import read_input

    open_outputs(files=(out, boxes, html))
    given = read_input(documents, extractions, responses, settings())
    for line in given.refused:
        complain.print(f"refused {line}", soft_wrap=True)
    loaded = load_scorer(scorer or settings().judge, packs=settings().packs)
    typed = typing_of(settings().error_types)
    verdicts = run_check(given, new_aligner(settings()), loaded, typed)
    _write(verdicts, out)
    if boxes:
        _write(_boxes(verdicts, given.documents), boxes)
    if html:
        from safepassage.report import report

        answers = [Document(id=one.id, text=one.text) for one in given.responses]
        page = report([*given.documents.values(), *answers], verdicts)
        html.write_text(page, encoding="utf-8")
    counts = Counter(verdict.decision for verdict in verdicts)
    summary = ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
    complain.print(f"{len(verdicts)} verdicts: {summary or 'none'}")
    if given.refused:
        raise typer.Exit(1)


def _boxes(verdicts: list[Verdict], documents: Mapping[str, Document]) -> list[EvidenceBoxes]:
    from safepassage.streams.offline.evidence_boxes import boxes_line

    known = ((verdict, documents.get(verdict.doc_id)) for verdict in verdicts)
    lines = (boxes_line(verdict, document) for verdict, document in known if document)
    return [line for line in lines if line]


def _write(rows: Sequence[Verdict | EvidenceBoxes], out: Path | None) -> None:
    with file_or_stdout(out) as stream:
        stream.writelines(row.model_dump_json().encode() + b"\n" for row in rows)
        stream.flush()
