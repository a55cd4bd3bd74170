"""From questions to tensors: tokens with a label each, in batches of like length."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .loss import IGNORED
from .questions import Place, ReadingQuestion

OTHER_WEIGHT = 0.5
"""Weight of a token that is in no known answer: it may be in one that nobody marked."""


INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""What of a batch the reader is given; the rest are labels."""
DESCRIBED = 0.2
"""Share of the questions that are asked by name and description together."""


@dataclass(frozen=True, slots=True)
class Example:
    """A tokenised question. ``labels`` and ``weights`` [tokens]; ``spans`` are
    (first, past last, label) of whole values; ``founded`` [tokens]."""

    ids: list[int]
    types: list[int]
    labels: list[float]
    weights: list[float]
    spans: list[tuple[int, int, float]]
    claim: float
    founded: list[float]


def tokenised(
    questions: Sequence[ReadingQuestion], tokenizer: Any, max_length: int, seed: int
) -> list[Example]:
    """``questions`` as examples, each in one of its forms; those too long to read are left out.

    ``tokenizer`` is a fast one of transformers.
    """
    rng = random.Random(seed)
    texts = [_asked(question, rng) for question in questions]
    read = tokenizer(
        texts,
        [question.passage for question in questions],
        return_offsets_mapping=True,
        truncation=False,
        verbose=False,
    )
    made = (_example(q, read, at) for at, q in enumerate(questions))
    return [example for example in made if len(example.ids) <= max_length]


def _asked(question: ReadingQuestion, rng: random.Random) -> str:
    """One form of the question, or its name with a description as a schema gives them."""
    if len(question.asked) > 1 and rng.random() < DESCRIBED:
        name, description = rng.sample(question.asked, 2)
        return f"{name}: {description}"
    return rng.choice(question.asked)


def _example(question: ReadingQuestion, read: Any, at: int) -> Example:
    ids, offsets, sides = read["input_ids"][at], read["offset_mapping"][at], read.sequence_ids(at)
    labels, weights = [IGNORED] * len(ids), [0.0] * len(ids)
    spans: list[tuple[int, int, float]] = []
    is_claim = question.supported is not None
    if not is_claim:
        if question.exhaustive:
            _label(labels, weights, sides, 1)
        for place, label in _values(question):
            first, last = _tokens(offsets, sides, place)
            if first < last:
                spans.append((first, last, label))
                for token in range(first, last):
                    labels[token], weights[token] = label, 1.0
    return Example(
        ids=ids,
        types=read["token_type_ids"][at] if "token_type_ids" in read else [],
        labels=labels,
        weights=weights,
        spans=spans,
        claim=IGNORED if question.supported is None else float(question.supported),
        founded=_founded(question, offsets, sides),
    )


def _label(labels: list[float], weights: list[float], sides: Sequence[Any], side: int) -> None:
    for token, of in enumerate(sides):
        if of == side:
            labels[token], weights[token] = 0.0, OTHER_WEIGHT


def _values(question: ReadingQuestion) -> Iterator[tuple[Place, float]]:
    """Wrong values first: where a right one overlaps, its tokens have the last word."""
    for place in question.wrong:
        yield place, 0.0
    for place in question.answers:
        yield place, 1.0


def _tokens(offsets: Sequence[Place], sides: Sequence[Any], place: Place) -> tuple[int, int]:
    """The passage's tokens that share a code point with ``place``: first and past the last."""
    there = [
        token
        for token, ((start, end), side) in enumerate(zip(offsets, sides, strict=True))
        if side == 1 and start < place[1] and end > place[0]
    ]
    return (there[0], there[-1] + 1) if there else (0, 0)


def _founded(
    question: ReadingQuestion, offsets: Sequence[Place], sides: Sequence[Any]
) -> list[float]:
    founded = [IGNORED] * len(offsets)
    if question.unfounded is None:
        return founded
    for token, ((start, end), side) in enumerate(zip(offsets, sides, strict=True)):
        if side == 0:
            bad = any(start < to and end > at for at, to in question.unfounded)
            founded[token] = 0.0 if bad else 1.0
    return founded


def collate(examples: Sequence[Example], pad: int) -> dict[str, Tensor]:
    """Tensors of a batch, padded to its longest example."""
    longest = max(len(e.ids) for e in examples)
    most = max(1, *(len(e.spans) for e in examples))
    shape = (len(examples), longest)
    batch = {
        "input_ids": torch.full(shape, pad),
        "attention_mask": torch.zeros(shape, dtype=torch.long),
        "token_labels": torch.full(shape, IGNORED),
        "token_weights": torch.zeros(shape),
        "founded_labels": torch.full(shape, IGNORED),
        "spans": torch.zeros(len(examples), most, longest),
        "span_labels": torch.full((len(examples), most), IGNORED),
        "claim_labels": torch.tensor([e.claim for e in examples]),
    }
    if examples[0].types:
        batch["token_type_ids"] = torch.zeros(shape, dtype=torch.long)
    for row, example in enumerate(examples):
        size = len(example.ids)
        batch["input_ids"][row, :size] = torch.tensor(example.ids)
        batch["attention_mask"][row, :size] = 1
        batch["token_labels"][row, :size] = torch.tensor(example.labels)
        batch["token_weights"][row, :size] = torch.tensor(example.weights)
        batch["founded_labels"][row, :size] = torch.tensor(example.founded)
        if example.types:
            batch["token_type_ids"][row, :size] = torch.tensor(example.types)
        for number, (first, last, label) in enumerate(example.spans):
            batch["spans"][row, number, first:last] = 1.0 / (last - first)
            batch["span_labels"][row, number] = label
    return batch


def batches(examples: Sequence[Example], size: int, seed: int) -> list[list[int]]:
    """Positions of ``examples`` in batches of ``size``: of like length, in random order."""
    rng = random.Random(seed)
    order = list(range(len(examples)))
    rng.shuffle(order)
    window = 40 * size
    made: list[list[int]] = []
    for start in range(0, len(order), window):
        near = sorted(order[start : start + window], key=lambda at: len(examples[at].ids))
        made += [near[at : at + size] for at in range(0, len(near), size)]
    rng.shuffle(made)
    return made
