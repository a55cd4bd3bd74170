"""``graph``: the graph of an answer as a picture, and where judging by graphs works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from rich.markup import escape

from safepassage.schemas import read_jsonl
from safepassage.schemas.base import EventId, Text
from safepassage.streams.cli.label_options import print_tables, progress_bars
from safepassage.streams.cli.options import JsonFile, LabelledAnswers
from safepassage.streams.cli.output import open_outputs, print_line, write_figures
from safepassage.streams.runtime.errors import OperatorError

if TYPE_CHECKING:
    from safepassage.scoring_worker.laboratory.experiments.operating_regime import Band, Regime

SHOWN_TRIPLES = 20

graph_app = typer.Typer(help="Answers as graphs (HalluGraph).", no_args_is_help=True, name="graph")


@graph_app.command("draw")
def draw_graph(
    responses: Annotated[
        Path, typer.Argument(help='JSON lines (.gz) of {"id", "context", "query", "response"}.')
    ],
    *,
    picture: Annotated[Path, typer.Option("--out", "-o", help="A .svg, .png or .pdf.")],
    answer_id: Annotated[str | None, typer.Option("--id", help="Which; else the first.")] = None,
    detector: Annotated[str, typer.Option(help="hallugraph, or hallugraph_llm.")] = "hallugraph",
) -> None:
    """Draw what an answer speaks of, and what of it stands in its passages.

    Prints EG, RP and what is not supported. Exits 1 where the answer cannot be judged.
    """
    from safepassage.scoring_worker.detectors.contract import Answer
    from safepassage.scoring_worker.detectors.hallugraph.drawing import check_kind, draw, save
    from safepassage.scoring_worker.detectors.registry import load_detector

    try:
        check_kind(picture)
    except ValueError as error:
        raise OperatorError(str(error)) from None
    open_outputs(files=[picture])
    found = _answer(responses, answer_id)
    judge = load_detector(detector)
    try:
        [grounding] = judge.ground([Answer(found.passages, found.response, found.query or "")])
    finally:
        judge.close()
    if grounding.score is None:
        raise OperatorError(f"{found.id}: undetermined ({grounding.failure})")
    evidence = grounding.evidence
    measures = ", ".join(f"{name} {share:.2f}" for name, share in evidence.measures.items())
    print_line(f"{found.id}: {grounding.score:.2f} ({measures})")
    wrong = [triple for triple in evidence.triples if triple.status != "supported"]
    for triple in wrong[:SHOWN_TRIPLES]:
        said = " — ".join(filter(None, (triple.subject, triple.relation, triple.object)))
        missing = f": {', '.join(triple.missing)}" if triple.missing else ""
        print_line(f"  {triple.status}: {said}{missing}")
    save(draw(evidence.triples), picture)
    print_line(f"written: {picture}")


@graph_app.command()
def regime(
    datasets: LabelledAnswers,
    *,
    terms: Annotated[bool, typer.Option(help="Things without a name are entities, too.")] = True,
    limit: Annotated[int | None, typer.Option(help="The first so many of each.", min=1)] = None,
    json_file: JsonFile = None,
) -> None:
    """Measure the AUC by the length of answers and by how many entities they name."""
    from safepassage.scoring_worker.detectors.hallugraph.local_graphs import LocalExtractor
    from safepassage.scoring_worker.laboratory.experiments.operating_regime import operating_regime

    open_outputs(files=[json_file])
    extractor = LocalExtractor(terms=terms)
    with progress_bars() as on_progress:
        measured = [
            operating_regime(path, extractor, limit=limit, on_progress=on_progress)
            for path in datasets
        ]
    _show(measured)
    write_figures(json_file, measured)


class _AnswerRow(BaseModel):
    """An answer of any file: labelled or not."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: EventId
    context: Text | list[Text]
    response: Text = Field(validation_alias=AliasChoices("response", "claim"))
    query: Text | None = None

    @property
    def passages(self) -> tuple[str, ...]:
        return (self.context,) if isinstance(self.context, str) else tuple(self.context)


def _answer(path: Path, answer_id: str | None) -> _AnswerRow:
    for row in read_jsonl(path, _AnswerRow):
        if isinstance(row, _AnswerRow) and answer_id in (None, row.id):
            return row
    raise OperatorError(f"{path}: there is no answer {answer_id or ''}".rstrip())


def _show(measured: list[Regime]) -> None:
    from rich.table import Table

    from safepassage.scoring_worker.laboratory.experiments.operating_regime import PAPER

    tables = []
    for one in measured:
        title = escape(f"{one.dataset}, {one.extractor}")
        table = Table("answers", "n", "judged", "unsupported", "AUC", "95% interval", title=title)
        held_out = [one.fitted.held_out] if one.fitted else []
        for band in (
            one.whole, one.eg, one.rp, one.plain, *held_out, *one.by_words, *one.by_entities
        ):  # fmt: skip
            table.add_row(*_row(band))
        if one.fitted:
            table.caption = f"fitted: weight of EG {one.fitted.weight:g}, threshold "
            table.caption += f"{one.fitted.threshold:.2f}"
        tables.append(table)
    paper = Table("the paper's table 1", "HalluGraph", "BERTScore")
    for name, (ours, theirs) in PAPER.items():
        paper.add_row(name, f"{ours:.2f}", f"{theirs:.2f}")
    print_tables([*tables, paper])


def _row(band: Band) -> tuple[str, ...]:
    auc = "-" if band.auc is None else f"{band.auc:.3f}"
    interval = "-" if band.interval is None else "[{:.3f}, {:.3f}]".format(*band.interval)
    counts = map(str, (band.answers, band.judged, band.unsupported))
    return (band.name, *counts, auc, interval)
