"""Training the local classifier of error types, on sentences altered by rule.

What it is worth is measured three ways, on texts that it did not see: with rules that it saw, with
rules that were held out, and on statements in words of their own (NLI) altered by rule.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from research.adaptation.rule_twins import alterations
from research.corpora import PERMISSIVE_NLI
from safepassage.passages.sentence_splitting import sentences
from safepassage.schemas import Alignment, LabelledExtraction, render_value
from safepassage.schemas.error_type import ERROR_TYPES, ErrorType
from safepassage.scoring_worker.evaluation.splits import held_out

from .contract import StoppedClaim
from .features import features
from .local import LocalTyper, TypeWeights

SENTENCE = (60, 320)
"""Characters of a sentence that is altered."""
PER_DOCUMENT = 12
HELD_TEXTS = 0.2
HELD_RULES = 0.25
FEWEST = 3
"""A feature that is in fewer examples is left out."""
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class TypedExample:
    """A claim altered by ``rule``; ``group`` is its text's, ``source`` whose text."""

    stopped: StoppedClaim
    error_type: ErrorType
    rule: str
    group: str
    source: str


def of_documents(rows: Iterable[Mapping[str, Any]], seed: int = 0) -> Iterator[TypedExample]:
    """Sentences of documents {"id","text"}, altered; the passage is the sentence between its
    neighbours. At most one error of each type of a sentence."""
    low, high = SENTENCE
    for row in rows:
        text = str(row["text"])
        places = list(sentences(text[:60_000]))
        draw = random.Random(f"{seed}:{row['id']}")
        fit = [at for at, (start, end) in enumerate(places) if low <= end - start <= high]
        for at in draw.sample(fit, min(PER_DOCUMENT, len(fit))):
            start, end = places[at]
            first, last = places[max(0, at - 1)][0], places[min(len(places) - 1, at + 1)][1]
            passage = " ".join(text[first:last][:1_500].split())
            sentence = " ".join(text[start:end].split())
            yield from _altered(sentence, passage, str(row["id"]), "documents", draw)


def of_statements(rows: Iterable[Mapping[str, Any]], seed: int = 0) -> Iterator[TypedExample]:
    """Entailed statements of permissive NLI rows, altered: claims in words of their own."""
    for row in rows:
        if row.get("source") in PERMISSIVE_NLI and row.get("label") == "entailment":
            premise, statement = str(row["premise"]), str(row["hypothesis"])
            draw = random.Random(f"{seed}:{premise}")
            yield from _altered(statement, premise, premise, "statements", draw)


def of_reviews(rows: Iterable[LabelledExtraction]) -> Iterator[TypedExample]:
    """Claims that reviewers refused with a reason (rows of ``labels export``)."""
    for row in rows:
        if row.error_type is None or row.retrieved is None:
            continue
        passage = Alignment.model_validate(row.retrieved).passage
        stopped = StoppedClaim(render_value(row.value), passage)
        yield TypedExample(stopped, row.error_type, "review", row.doc_id, "reviews")


def _altered(
    sentence: str, passage: str, group: str, source: str, draw: random.Random
) -> Iterator[TypedExample]:
    found = alterations(sentence)
    draw.shuffle(found)
    for one in {altered.error_type: altered for altered in found}.values():
        stopped = StoppedClaim(one.text, passage)
        yield TypedExample(stopped, one.error_type, one.swap, group, source)


@dataclass(frozen=True, slots=True)
class Split:
    """What to learn from, and what to measure on."""

    train: list[TypedExample]
    known_rules: list[TypedExample]
    held_rules: list[TypedExample]


def split(examples: Sequence[TypedExample], most: int, seed: int = 0) -> Split:
    """Held-out texts never train, and neither do held-out rules; at most ``most`` of each type
    and source train."""
    made = Split([], [], [])
    counts: dict[tuple[str, str], int] = {}
    order = list(examples)
    random.Random(seed).shuffle(order)
    for one in order:
        rule_held = one.rule not in ("figure", "review") and held_out(one.rule, HELD_RULES, "rule")
        if held_out(one.group, HELD_TEXTS, "text"):
            (made.held_rules if rule_held else made.known_rules).append(one)
        elif not rule_held:
            key = (one.error_type, one.source)
            counts[key] = counts.get(key, 0) + 1
            if counts[key] <= most:
                made.train.append(one)
    return made


def train(
    examples: Sequence[TypedExample], trained_on: Sequence[str], seed: int = 0
) -> TypeWeights:
    """The weights, without what they were measured at.

    Raises:
        ValueError: a type has no example.
    """
    missing = set(ERROR_TYPES) - {one.error_type for one in examples}
    if missing:
        raise ValueError(f"no example of {', '.join(sorted(missing))}")
    told = [dict.fromkeys(sorted(features(one.stopped)), 1.0) for one in examples]
    counted: dict[str, int] = {}
    for row in told:
        for name in row:
            counted[name] = counted.get(name, 0) + 1
    kept = [{n: v for n, v in row.items() if counted[n] >= FEWEST} for row in told]
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform(kept)
    model = LogisticRegression(C=0.5, max_iter=400, class_weight="balanced", random_state=seed)
    model.fit(matrix, [one.error_type for one in examples])
    weights = {
        name: tuple(round(float(row[at]), DECIMALS) for row in model.coef_)
        for at, name in enumerate(vectorizer.get_feature_names_out())
    }
    return TypeWeights(
        types=tuple(model.classes_),
        bias=tuple(round(float(value), DECIMALS) for value in model.intercept_),
        weights={name: row for name, row in weights.items() if any(row)},
        trained_on=tuple(trained_on),
        measured={},
    )


def trained(
    examples: Sequence[TypedExample], trained_on: Sequence[str], most: int, seed: int = 0
) -> TypeWeights:
    """The weights, with what they are worth on texts that were held out.

    Raises:
        ValueError: a type has no example.
    """
    parts = split(examples, most, seed)
    weights = train(parts.train, trained_on, seed)
    figures = measured(
        weights,
        {
            f"{rules}_{source}": [one for one in held if one.source == source]
            for rules, held in (("known_rules", parts.known_rules), ("new_rules", parts.held_rules))
            for source in ("documents", "statements", "reviews")
        },
    )
    return weights.model_copy(update={"measured": figures})


def measured(weights: TypeWeights, parts: Mapping[str, Sequence[TypedExample]]) -> dict[str, float]:
    """Accuracy and macro F1 on every part, and how many examples it has."""
    typer = LocalTyper(weights, "unsaved")
    figures: dict[str, float] = {}
    for name, part in parts.items():
        if not part:
            continue
        truth = [one.error_type for one in part]
        said = [_first(typer, one) for one in part]
        hits = sum(a == b for a, b in zip(truth, said, strict=True))
        figures[f"{name}_n"] = len(part)
        figures[f"{name}_accuracy"] = round(hits / len(part), 4)
        figures[f"{name}_macro_f1"] = round(
            float(f1_score(truth, said, average="macro", zero_division=0.0)), 4
        )
    return figures


def _first(typer: LocalTyper, example: TypedExample) -> ErrorType:
    [typing] = typer.type_errors([example.stopped])
    if typing is None:  # for the type checker: this typer answers always
        raise AssertionError
    return typing.types[0]
