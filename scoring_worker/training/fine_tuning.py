"""Fine-tuning of a cross-encoder to say yes or no: the loop that RAGulator's windows and
SafePassage's spans share. It runs on a GPU where there is one."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.manifest import ModelError


class Example(NamedTuple):
    """Two texts in the order in which they are read, and whether the answer is yes."""

    first: str
    second: str
    label: bool


@dataclass(frozen=True, slots=True)
class FineTuning:
    """RAGulator's Table 6, and the tokens that a pair may have. ``truncate`` cuts the first text
    of a longer one; without it such a pair is an error.

    ``epoch_steps`` is the least number of steps of an epoch: fewer examples are read several times
    before anyone looks at what was learnt. ``layers`` is how many of the last layers learn; None is
    all of them, and the word embeddings. ``label`` is the logit that says yes."""

    batch: int = 16
    epochs: int = 3
    base_rate: float = 5e-6
    head_rate: float = 2e-5
    warmup: float = 0.1
    max_length: int = 512
    seed: int = 0
    truncate: bool = False
    epoch_steps: int = 0
    layers: int | None = None
    label: int = 0

    def passes(self, examples: int) -> int:
        """How often an epoch reads each of so many ``examples``."""
        return max(1, math.ceil(self.epoch_steps * self.batch / examples))


SIMILAR = 16
"""Batches among which examples are sorted by length: a batch is as dear as its longest one."""


def training_device() -> torch.device:
    """A GPU where torch sees one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def fine_tune(
    model: Any,
    tokenizer: Any,
    examples: Sequence[Example],
    recipe: FineTuning,
    on_progress: OnProgress,
    *,
    after_epoch: Callable[[], bool] = lambda: True,
) -> list[float]:
    """Train ``model``, which has one logit or one for each label; the mean loss of every epoch.

    ``after_epoch`` says whether to go on; it finds the model ready for inference. Raises
    `ModelError` where a loss is no number, a pair is too long, or ``layers`` cannot be told apart;
    `ValueError` where there is nothing to learn from."""
    if len({example.label for example in examples}) < 2:
        raise ValueError("the pairs are all of one label")
    device = training_device()
    model.to(device)
    _freeze(model, recipe.layers)
    examples = list(examples) * recipe.passes(len(examples))
    steps = math.ceil(len(examples) / recipe.batch) * recipe.epochs
    optimizer = torch.optim.AdamW(_rates(model, recipe))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, _warmed(steps, recipe.warmup))
    losses: list[float] = []
    done = 0
    for epoch in range(recipe.epochs):
        model.train()
        total = 0.0
        for batch in _batches(examples, recipe, epoch):
            with _precision(device):
                inputs = encoded(tokenizer, batch, recipe).to(device)
                loss = _loss(model(**inputs).logits, recipe.label, batch)
            if not torch.isfinite(loss):
                raise ModelError("the loss is no number; lower the learning rate")
            loss.backward()  # type: ignore[no-untyped-call] # torch types it by half
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            total += float(loss.detach()) * len(batch)
            done += 1
            on_progress("steps trained", done, steps)
        losses.append(total / len(examples))
        model.eval()
        if not after_epoch():
            break
    return losses


@torch.inference_mode()
def support(
    model: Any, tokenizer: Any, examples: Sequence[Example], recipe: FineTuning
) -> list[float]:
    """p(yes) of every example, in order, from a model that is ready for inference."""
    device = next(model.parameters()).device
    ordered = sorted(range(len(examples)), key=lambda at: len(examples[at].first))
    found = [0.0] * len(examples)
    for start in range(0, len(ordered), 4 * recipe.batch):
        places = ordered[start : start + 4 * recipe.batch]
        batch = [examples[at] for at in places]
        with _precision(device):
            logits = model(**encoded(tokenizer, batch, recipe).to(device)).logits.float()
        said = torch.sigmoid(_yes(logits, recipe.label)).tolist()
        for at, value in zip(places, said, strict=True):
            found[at] = value
    return found


def encoded(tokenizer: Any, batch: Sequence[Example], recipe: FineTuning) -> Any:
    """A padded batch. Raises `ModelError` where a pair is too long."""
    cut: dict[str, Any] = (
        {"truncation": "only_first", "max_length": recipe.max_length} if recipe.truncate else {}
    )
    made = tokenizer(
        [example.first for example in batch],
        [example.second for example in batch],
        padding=True,
        return_tensors="pt",
        **cut,
    )
    if made["input_ids"].shape[1] > recipe.max_length:
        raise ModelError(f"a window has more than {recipe.max_length} tokens; label with less room")
    return made


def _precision(device: torch.device) -> AbstractContextManager[Any]:
    """bf16 where the GPU has it; the weights stay in full precision."""
    if device.type == "cuda" and torch.cuda.is_bf16_supported():
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return nullcontext()


def _rates(model: Any, recipe: FineTuning) -> list[dict[str, Any]]:
    """Two rates: the encoder's layers know much already, the head knows nothing."""
    encoder = {id(parameter) for parameter in model.base_model.parameters()}
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [
        {"params": [p for p in parameters if id(p) in encoder], "lr": recipe.base_rate},
        {"params": [p for p in parameters if id(p) not in encoder], "lr": recipe.head_rate},
    ]


def _freeze(model: Any, layers: int | None) -> None:
    """Leave all but the last ``layers`` of the encoder, its pooler and the head as they are."""
    model.requires_grad_(layers is None)
    if layers is None:
        return
    encoder = model.base_model
    stack = getattr(getattr(encoder, "encoder", None), "layer", None)
    if stack is None:
        raise ModelError("the layers of this encoder are not known by name; train all of them")
    for part in (*stack[-layers:], getattr(encoder, "pooler", None)):
        if part is not None:
            part.requires_grad_(True)
    own = {id(parameter) for parameter in encoder.parameters()}
    for parameter in model.parameters():
        parameter.requires_grad_(parameter.requires_grad or id(parameter) not in own)


def _warmed(steps: int, share: float) -> Any:
    warm = max(1, round(steps * share))

    def rate(step: int) -> float:
        return min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))

    return rate


def _batches(
    examples: Sequence[Example], recipe: FineTuning, epoch: int
) -> Iterator[list[Example]]:
    source = random.Random(recipe.seed * 1_000 + epoch)
    order = list(examples)
    source.shuffle(order)
    ordered: list[Example] = []
    for start in range(0, len(order), recipe.batch * SIMILAR):
        near = order[start : start + recipe.batch * SIMILAR]
        ordered += sorted(near, key=lambda one: len(one.first) + len(one.second))
    batches = [ordered[at : at + recipe.batch] for at in range(0, len(ordered), recipe.batch)]
    source.shuffle(batches)
    yield from batches


def _loss(logits: Tensor, label: int, batch: Sequence[Example]) -> Tensor:
    labels = torch.tensor([float(example.label) for example in batch], device=logits.device)
    return binary_cross_entropy_with_logits(_yes(logits.float(), label), labels)


def _yes(logits: Tensor, label: int) -> Tensor:
    """The logit of yes [pairs] against all other labels: its sigmoid is the softmax of ``label``.
    Of a single logit, that one."""
    if logits.shape[-1] == 1:
        return logits.squeeze(-1)
    others = [at for at in range(logits.shape[-1]) if at != label]
    return logits[:, label] - logits[:, others].logsumexp(dim=-1)
