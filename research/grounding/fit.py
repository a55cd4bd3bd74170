"""Fine-tuning GC: binary cross-entropy against the weighted labels, by AdamW."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from safepassage.scoring_worker.evaluation.splits import held_out

from .examples import GroundingExample
from .models import Trainee


@dataclass(frozen=True, slots=True)
class GroundingFit:
    """How to train. ``held_out`` is the share of queries that the accuracy is measured on."""

    epochs: int = 2
    batch_size: int = 16
    learning_rate: float = 3e-5
    held_out: float = 0.12
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Fitted:
    """``accuracy`` of telling grounded from altered sentences that were held out, at .5; ``before``
    any training; None where nothing was held out."""

    examples: int
    held_out: int
    before: float | None
    accuracy: float | None
    loss: float


def fit(
    trainee: Trainee,
    examples: Sequence[GroundingExample],
    settings: GroundingFit,
    on_progress: Callable[[str, int, int], None],
) -> Fitted:
    """Train ``trainee`` in place.

    Raises:
        ValueError: there is nothing to train on, or the loss is not finite.
    """
    train = [one for one in examples if not held_out(one.group, settings.held_out, "gc")]
    test = [one for one in examples if held_out(one.group, settings.held_out, "gc")]
    if not train:
        raise ValueError("there are no examples to train on")
    torch.manual_seed(settings.seed)
    module = trainee.module
    before = _accuracy(trainee, test, settings.batch_size)
    learnt = [weights for weights in module.parameters() if weights.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=settings.learning_rate)
    steps = settings.epochs * -(-len(train) // settings.batch_size)
    done, loss_sum = 0, 0.0
    for epoch in range(settings.epochs):
        order = list(train)
        random.Random(settings.seed + epoch).shuffle(order)
        module.train()
        for start in range(0, len(order), settings.batch_size):
            batch = order[start : start + settings.batch_size]
            rate = settings.learning_rate * (1 - done / steps)
            for group in optimizer.param_groups:
                group["lr"] = rate
            logits = trainee.logits([one.source for one in batch], [one.sentence for one in batch])
            labels = torch.tensor([one.label for one in batch], device=logits.device)
            loss = binary_cross_entropy_with_logits(logits.float(), labels.float())
            if not torch.isfinite(loss):
                raise ValueError("the loss is not finite: lower the learning rate")
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(learnt, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            done, loss_sum = done + 1, loss_sum + float(loss.detach())
            on_progress("training", done, steps)
    module.eval()
    return Fitted(
        examples=len(train),
        held_out=len(test),
        before=before,
        accuracy=_accuracy(trainee, test, settings.batch_size),
        loss=round(loss_sum / max(done, 1), 4),
    )


@torch.inference_mode()
def _accuracy(trainee: Trainee, examples: Sequence[GroundingExample], size: int) -> float | None:
    trainee.module.eval()
    right = 0
    for start in range(0, len(examples), size):
        batch = examples[start : start + size]
        logits = trainee.logits([one.source for one in batch], [one.sentence for one in batch])
        said = (logits > 0).tolist()
        right += sum(a == (one.label > 0.5) for a, one in zip(said, batch, strict=True))
    return round(right / len(examples), 4) if examples else None
