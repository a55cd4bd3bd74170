"""One stage of training: a reader learns from labelled pairs, and what it knew is asked again."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
import torch
from transformers import PreTrainedTokenizerFast

from safepassage.scoring_worker.encoders.reader_model import ReaderModel
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.training.reading.examples import Example, tokenised
from safepassage.scoring_worker.training.reading.fit import (
    WEIGHTS,
    FitSettings,
    fit,
    is_fitted,
    load_weights,
)
from safepassage.scoring_worker.training.reading.label_questions import questions_of
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion
from safepassage.scoring_worker.training.reading.rehearsal import rehearsed
from safepassage.scoring_worker.training.reading.upper_layers import UpperLayers

log = structlog.get_logger(__name__)


WIDE, OF_WIDE = 768, 0.4
"""A large reader forgets how to read at the rates that a small one needs."""


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """How a stage trains. ``epochs`` is how often every label is seen. ``learning_rate`` is that of
    a small reader; one of `WIDE` or more gets `OF_WIDE` of it.

    ``rehearsal`` is how many questions of invented documents are mixed in for each question of the
    labels, and ``rehearsal_least`` how many at the least; 0 and 0 for none. Questions longer than
    ``max_length`` tokens are left out. ``layers`` is how many of the last layers learn; None is all
    of them.
    """

    epochs: float = 2.0
    learning_rate: float = 5e-5
    batch_size: int = 16
    rehearsal: float = 1.0
    rehearsal_least: int = 400
    max_length: int = 256
    layers: int | None = None
    seed: int = 0


def tune(
    model: ReaderModel,
    tokenizer: PreTrainedTokenizerFast,
    pairs: Sequence[LabelledPair],
    folder: Path,
    settings: TuningSettings,
    *,
    device: str = "cpu",
    stop: Callable[[], bool] = lambda: False,
    on_step: Callable[[int, int], None] = lambda *_: None,
) -> bool:
    """Teach ``model`` what ``pairs`` say; a run that was stopped goes on from ``folder``.

    Returns:
        Whether it reached its end.

    Raises:
        ValueError: no pair teaches anything, or ``folder`` holds another run's checkpoint.
    """
    model.freeze_words()
    if settings.layers:
        UpperLayers.freeze(model, settings.layers)
    if is_fitted(folder):
        load_weights(model, folder / WEIGHTS)
        model.eval()
        return True
    torch.manual_seed(settings.seed)
    examples = examples_of(pairs, tokenizer, settings)
    width = model.encoder.config.hidden_size
    steps = math.ceil(len(examples) / settings.batch_size)
    fitting = FitSettings(
        learning_rate=settings.learning_rate * (OF_WIDE if width >= WIDE else 1.0),
        batch_size=settings.batch_size,
        warmup_steps=min(60, max(1, steps // 10)),
        seed=settings.seed,
        log_every=max(1, min(50, steps // 10)),
        layers=settings.layers,
    )
    pad = model.encoder.config.pad_token_id or 0
    ended = fit(
        model, examples, folder, fitting, pad=pad, device=device, stop=stop, on_step=on_step
    )
    model.to("cpu")
    return ended


def examples_of(
    pairs: Sequence[LabelledPair], tokenizer: PreTrainedTokenizerFast, settings: TuningSettings
) -> list[Example]:
    """What a stage reads: all ``epochs`` of the labels, and the rehearsal beside them.

    Raises:
        ValueError: no pair teaches anything.
    """
    taught = questions_of(pairs)
    repeated = _epochs(taught, settings)
    again = rehearsed(_rehearsed(len(repeated), settings), settings.seed)
    examples = tokenised([*repeated, *again], tokenizer, settings.max_length, settings.seed)
    log.info(
        "labels",
        pairs=len(pairs),
        questions=len(taught),
        rehearsal=len(again),
        examples=len(examples),
    )
    if not repeated:
        raise ValueError("no label teaches the reader anything: give more of them")
    return examples


def _epochs(
    questions: Sequence[ReadingQuestion], settings: TuningSettings
) -> list[ReadingQuestion]:
    whole, part = divmod(settings.epochs, 1.0)
    some = random.Random(settings.seed).sample(questions, round(part * len(questions)))
    return [*(question for _ in range(int(whole)) for question in questions), *some]


def _rehearsed(asked: int, settings: TuningSettings) -> int:
    return (
        max(settings.rehearsal_least, round(asked * settings.rehearsal))
        if settings.rehearsal
        else 0
    )
