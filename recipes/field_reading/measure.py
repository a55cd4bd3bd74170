"""How well a model in either form parts right rows from wrong ones, on what taught it nothing."""

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from recipes.row_figures import RowScores
from safepassage.scoring_worker.training.reading.fit import has_bf16

from .corpus import Statements
from .examples import (
    MAX_FIELDS,
    Example,
    FieldRow,
    TextTokens,
    collate,
    field_example,
    question_example,
    statement_example,
    windows,
)
from .model import FieldReader
from .rows import LabelledDocument

_AT_ONCE = 3_000
_RIVAL = 0.5
"""How much the lead over the other fields counts beside the value's own logit; of today's form,
the statement."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Scores of rows in the order of ``rows``, and the processor seconds that they took."""

    rows: tuple[FieldRow, ...]
    groups: tuple[str, ...]
    scores: tuple[float, ...]
    seconds: float

    @property
    def auroc(self) -> float:
        """Of right rows above wrong ones; NaN where one of them is missing."""
        return _known(self.figures.auroc())

    @property
    def caught(self) -> float:
        """Share of wrong rows stopped where at most .12 of the right ones are."""
        return _known(self.figures.caught())

    @property
    def pairs(self) -> tuple[float, int]:
        """Share of the pairs of one value at one place, right under one field and wrong under
        another, that are ranked right, and their number."""
        return _known(self.figures.pairs()), self.figures.count_of_pairs

    def by_kind(self) -> dict[str, tuple[float, int]]:
        """By kind of row: AUROC beside the rows with the other label, and how many it has."""
        found = Counter(row.kind for row in self.rows)
        return {
            kind: (_known(self.figures.of_kind(kind).auroc()), count)
            for kind, count in sorted(found.items())
        }

    @property
    def figures(self) -> RowScores:
        """The rows as what figures are of."""
        return RowScores(
            labels=[row.label for row in self.rows],
            scores=self.scores,
            groups=self.groups,
            same=[
                (group, row.value, row.places)
                for row, group in zip(self.rows, self.groups, strict=True)
            ],
            kinds=[row.kind for row in self.rows],
        )


def _known(figure: float | None) -> float:
    return float("nan") if figure is None else figure


@torch.no_grad()
def judged(
    model: FieldReader,
    tokens: TextTokens,
    documents: Sequence[LabelledDocument],
    *,
    one_by_one: bool = False,
) -> Judged:
    """Scores of all rows of ``documents``; rows of one document are one schema."""
    began = time.process_time()
    judge = _one_by_one if one_by_one else _together
    scores = judge(model, tokens, documents)
    told = [
        (row, own.id, scores[row.id]) for own in documents for row in own.rows if row.id in scores
    ]
    rows, groups, found = zip(*told, strict=True)
    return Judged(rows, groups, found, time.process_time() - began)


@torch.no_grad()
def statements_auroc(
    model: FieldReader, tokens: TextTokens, statements: Statements
) -> tuple[float, int]:
    """AUROC of statements judged one by one, and how many they are."""
    asked = [
        (statement_example(tokens, passage, [one]), one[1])
        for passage, said in statements
        for one in said
    ]
    scores = _statement_scores(model, tokens, [example for example, _ in asked])
    return float(roc_auc_score([label for _, label in asked], scores)), len(asked)


def _together(
    model: FieldReader, tokens: TextTokens, documents: Sequence[LabelledDocument]
) -> Mapping[str, float]:
    passes = [one for own in documents for one in _passes(tokens, own)]
    found: dict[str, float] = {}
    for example, states in zip(passes, _states(model, tokens, passes), strict=True):
        logits = model.token_logits(states, torch.tensor(example.closings))
        for span in example.spans:
            means = torch.cat([logits[:, list(span.tokens)].mean(1), model.nothing])
            others = torch.cat([means[: span.field], means[span.field + 1 :]])
            own = means[span.field]
            found[span.row] = float(own + _RIVAL * (own - others.logsumexp(0)))
    stated = [row for own in documents for row in own.rows if row.id not in found]
    examples = [statement_example(tokens, row.passage, [(row.statement, 0)]) for row in stated]
    scores = _statement_scores(model, tokens, examples)
    return found | {row.id: score for row, score in zip(stated, scores, strict=True)}


def _passes(tokens: TextTokens, document: LabelledDocument) -> Iterator[Example]:
    there = [row for row in document.rows if row.places]
    for window, rows in windows(tokens, document.text, there, None):
        names = list(dict.fromkeys(row.field for row in rows))
        for at in range(0, len(names), MAX_FIELDS):
            kept = set(names[at : at + MAX_FIELDS])
            chosen = [row for row in rows if row.field in kept]
            yield field_example(tokens, document.text, chosen, window=window, beside=document.rows)


def _one_by_one(
    model: FieldReader, tokens: TextTokens, documents: Sequence[LabelledDocument]
) -> Mapping[str, float]:
    rows = [row for own in documents for row in own.rows]
    asked = {
        row.id: question_example(tokens, row.asked, row.passage, row.narrow[0], 0)
        for row in rows
        if row.narrow
    }
    passes = {name: example for name, example in asked.items() if example}
    found = {}
    states = _states(model, tokens, list(passes.values()))
    for (name, example), own in zip(passes.items(), states, strict=True):
        logits = model.reader.tokens(own[list(example.spans[0].tokens)])
        found[name] = float(logits.mean())
    examples = [statement_example(tokens, row.passage, [(row.statement, 0)]) for row in rows]
    stated = _statement_scores(model, tokens, examples)
    return {
        row.id: found[row.id] + _RIVAL * said if row.id in found else said
        for row, said in zip(rows, stated, strict=True)
    }


def _statement_scores(
    model: FieldReader, tokens: TextTokens, examples: Sequence[Example]
) -> list[float]:
    return [
        float(model.statement_logits(states, torch.tensor([example.statements[0][0]]))[0])
        for example, states in zip(examples, _states(model, tokens, examples), strict=True)
    ]


def _states(model: FieldReader, tokens: TextTokens, examples: Sequence[Example]) -> list[Tensor]:
    """The states of each example, in order; read in batches of like length."""
    order = sorted(range(len(examples)), key=lambda at: len(examples[at].ids))
    found: dict[int, Tensor] = {}
    while len(found) < len(order):
        first = len(found)
        size = max(1, _AT_ONCE // len(examples[order[first]].ids))
        part = order[first : first + size]
        ids, mask = collate([examples[at] for at in part], tokens.pad)
        with torch.autocast("cpu", torch.bfloat16, enabled=has_bf16("cpu")):
            states = model.states(ids, mask)
        for at, own in zip(part, states, strict=True):
            found[at] = own[: len(examples[at].ids)].clone()
    return [found[at] for at in range(len(examples))]


def sample(
    documents: Sequence[LabelledDocument], most: int, seed: int = 0
) -> list[LabelledDocument]:
    """``most`` of the documents at the most, the same for the same seed."""
    rng = random.Random(seed)
    return rng.sample(list(documents), min(most, len(documents)))
