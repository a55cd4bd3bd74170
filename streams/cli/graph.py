"""``graph``: the graph of an answer as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from typer import Argument, Option

from safepassage.schemas import read_jsonl
from safepassage.schemas.base import EventId, Text

from ..runtime.errors import OperatorError
from .output import open_outputs, print_line

SHOWN_TRIPLES = 20

graph_app = typer.Typer(help="Answers as graphs (HalluGraph).", no_args_is_help=True, name="graph")


@graph_app.command("draw")
def draw_graph(
    responses: Annotated[
        Path, Argument(help='JSON lines (.gz) of {"id", "context", "query", "response"}.')
    ],
    *,
    picture: Annotated[Path, Option("--out", "-o", help="A .svg, .png or .pdf.")],
    answer_id: Annotated[str | None, Option("--id", help="Which; else the first.")] = None,
    detector: Annotated[str, Option(help="A detector that draws graphs.")] = "hallugraph",
) -> None:
    """Draw what an answer speaks of, and what of it is in its passages.

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
