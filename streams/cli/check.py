"""``check``: align and score files, without Kafka."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from ..settings import settings
from .options import SchemaName, ScorerName, fields_of
from .output import complain, file_or_stdout, open_outputs

if TYPE_CHECKING:
    from safepassage.schemas import Document, Verdict

    from ..offline.evidence_boxes import EvidenceBoxes


Documents = Annotated[
    list[Path],
    Option(
        "--documents",
        "-d",
        help='JSON lines (.gz) of {"id", "text"}; or files and folders as `submit` reads them.',
    ),
]
Extractions = Annotated[
    list[Path],
    Option(
        "--extractions",
        "-e",
        help='JSON lines (.gz) of {"id", "doc_id", "entity_type", "value", "context"}; '
        "what else a row has comes back in `columns`.",
    ),
]
Responses = Annotated[
    list[Path],
    Option("--responses", "-r", help='JSON lines (.gz) of {"id", "context", "response"}.'),
]
Out = Annotated[
    Path | None, Option("--out", "-o", help="Where the verdicts go; stdout if omitted.")
]
Boxes = Annotated[
    Path | None, Option(help="Where the boxes of the evidence go, for documents with a layout.")
]
Html = Annotated[
    Path | None, Option(help="Where the documents go with their verdicts, as one page to look at.")
]


def check(  # noqa: PLR0917 - typer's options
    documents: Documents = [],
    extractions: Extractions = [],
    responses: Responses = [],
    schema: SchemaName = None,
    scorer: ScorerName = None,
    out: Out = None,
    boxes: Boxes = None,
    html: Html = None,
) -> None:
    """Align and score without Kafka. Exits 1 if a row of the input was refused."""
    if not (responses or (documents and extractions)):
        raise typer.BadParameter("give --documents with --extractions, or --responses")
    from safepassage.pipeline import new_aligner
    from safepassage.schemas import Document
    from safepassage.scoring_worker import load_scorer

    from ..offline.check import check as run_check
    from ..offline.check import read_input

    open_outputs(files=(out, boxes, html))
    given = read_input(documents, extractions, responses, settings(), fields_of(schema))
    for line in given.refused:
        complain.print(f"refused {line}", soft_wrap=True)
    judging = settings()
    loaded = load_scorer(scorer or judging.judge, packs=judging.packs, strict=judging.strict)
    verdicts = run_check(given, new_aligner(settings()), loaded)
    _write((_line(verdict, given.columns.get(verdict.extraction_id)) for verdict in verdicts), out)
    if boxes:
        found = _boxes(verdicts, given.documents)
        _write((line.model_dump_json() for line in found), boxes)
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
    from ..offline.evidence_boxes import boxes_line

    known = ((verdict, documents.get(verdict.doc_id)) for verdict in verdicts)
    lines = (boxes_line(verdict, document) for verdict, document in known if document)
    return [line for line in lines if line]


def _line(verdict: Verdict, columns: Mapping[str, object] | None) -> str:
    """The verdict, and behind it what its row had beside an extraction."""
    line = verdict.model_dump_json()
    return f'{line[:-1]},"columns":{json.dumps(columns, ensure_ascii=False)}}}' if columns else line


def _write(lines: Iterable[str], out: Path | None) -> None:
    with file_or_stdout(out) as stream:
        stream.writelines(line.encode() + b"\n" for line in lines)
        stream.flush()
