"""RefChecker's second step alone: triples that people labelled, as answers to be judged.

The published labels come without the references that people read. In their place are the answers
of other models to the same question whose triples people all called entailed: what these say was
found true. They say less than the reference did, so an entailed triple may be missing in them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from safepassage.schemas import stable_id, validation_summary
from safepassage.scoring_worker.evaluation.sources import DatasetError

ENTAILED: Final = "Entailment"


class _Triple(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    triplet: tuple[str, ...] = Field(min_length=3, max_length=3)
    label: str


class _Row(BaseModel):
    """{"id", "setting", "response", "triples": [{"triplet", "label"}]}; the id ends in the number
    of the question."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    setting: str
    response: str
    triples: tuple[_Triple, ...] = ()

    @property
    def question(self) -> str:
        return f"{self.setting}-{self.id.rpartition('-')[2]}"

    @property
    def is_reference(self) -> bool:
        own = [triple.label == ENTAILED for triple in self.triples]
        return bool(own) and all(own) and bool(self.response.strip())


def labelled_triples(rows: Iterable[Mapping[str, JsonValue]]) -> Iterator[dict[str, JsonValue]]:
    """The triples of every answer that is no reference itself, each as a labelled answer.

    Raises:
        DatasetError: a row is not one of RefChecker's.
    """
    by_question: dict[str, list[_Row]] = {}
    for number, given in enumerate(rows, start=1):
        try:
            row = _Row.model_validate(given)
        except ValidationError as error:
            raise DatasetError(f"row {number}: {validation_summary(error)}") from None
        by_question.setdefault(row.question, []).append(row)
    for question, answers in by_question.items():
        context: list[JsonValue] = [one.response for one in answers if one.is_reference]
        for answer in answers:
            if context and not answer.is_reference:
                yield from _rows(answer, question, context)


def _rows(answer: _Row, question: str, context: list[JsonValue]) -> Iterator[dict[str, JsonValue]]:
    for triple in dict.fromkeys(answer.triples):
        said = " ".join(" ".join(triple.triplet).split())
        if said:
            yield {
                "id": stable_id("triple", answer.id, *triple.triplet)[:16],
                "context": context,
                "response": f"{said}.",
                "label": int(triple.label == ENTAILED),
                "group": question,
            }
