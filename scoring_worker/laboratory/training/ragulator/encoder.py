"""Fine-tunes a cross-encoder on windows (RAGulator, section 2.5 and Table 6).

Any sequence classifier that transformers builds without code of the model's own: deberta-v3-large
where the hub can be reached, a small local base where it cannot. One logit, its sigmoid is
p(window supports the sentence). What is written is a folder of safetensors that
``ragulator-encoder=FOLDER`` loads.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from safepassage.scoring_worker.encoders.weight_folders import named_folder
from safepassage.scoring_worker.encoders.weights import load_tokenizer, load_with_new_head
from safepassage.scoring_worker.laboratory.evaluation.curation import CuratedPair
from safepassage.scoring_worker.laboratory.evaluation.sources import OnProgress
from safepassage.scoring_worker.manifest import ModelError


@dataclass(frozen=True, slots=True)
class EncoderRecipe:
    """The paper's Table 6, and the tokens that a window may have."""

    batch: int = 16
    epochs: int = 3
    base_rate: float = 5e-6
    head_rate: float = 2e-5
    warmup: float = 0.1
    max_length: int = 512
    seed: int = 0


PAPER_RECIPE = EncoderRecipe()


def train_encoder(
    base: str | Path,
    pairs: Sequence[CuratedPair],
    folder: Path,
    on_progress: OnProgress,
    recipe: EncoderRecipe = PAPER_RECIPE,
) -> list[float]:
    """Fine-tune ``base`` on windows and write it to ``folder``; the mean loss of every epoch.

    ``pairs`` have contexts that fit into the model, as `labelled_windows` cuts them; of a longer
    one the end would be unseen, so it is an error.

    Raises:
        ModelError: ``base`` is no such model, a loss is no number, or a pair is too long.
        ValueError: there is nothing to learn from.
    """
    if len({pair.grounded for pair in pairs}) < 2:
        raise ValueError("the pairs are all of one label")
    torch.manual_seed(recipe.seed)
    source = named_folder(str(base))
    model, tokenizer = load_with_new_head(source), load_tokenizer(source)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device).train()
    steps = math.ceil(len(pairs) / recipe.batch) * recipe.epochs
    optimizer = torch.optim.AdamW(_rates(model, recipe))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, _warmed(steps, recipe.warmup))
    losses: list[float] = []
    done = 0
    for epoch in range(recipe.epochs):
        total = 0.0
        for batch in _batches(pairs, recipe, epoch):
            loss = _loss(model, _encoded(tokenizer, batch, recipe).to(device), batch)
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
        losses.append(total / len(pairs))
    model.cpu().eval().save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    return losses


def _rates(model: Any, recipe: EncoderRecipe) -> list[dict[str, Any]]:
    """Two rates: the encoder's layers know much already, the head knows nothing."""
    encoder = {id(parameter) for parameter in model.base_model.parameters()}
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if id(p) in encoder], "lr": recipe.base_rate},
        {"params": [p for p in parameters if id(p) not in encoder], "lr": recipe.head_rate},
    ]


def _warmed(steps: int, share: float) -> Any:
    """Up during the first ``share`` of the steps, then down to nothing."""
    warm = max(1, round(steps * share))

    def rate(step: int) -> float:
        return min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))

    return rate


def _batches(
    pairs: Sequence[CuratedPair], recipe: EncoderRecipe, epoch: int
) -> Iterator[list[CuratedPair]]:
    order = list(pairs)
    random.Random(recipe.seed * 1_000 + epoch).shuffle(order)
    for start in range(0, len(order), recipe.batch):
        yield order[start : start + recipe.batch]


def _encoded(tokenizer: Any, batch: Sequence[CuratedPair], recipe: EncoderRecipe) -> Any:
    made = tokenizer(
        [pair.context for pair in batch],
        [pair.sentence for pair in batch],
        padding=True,
        return_tensors="pt",
    )
    if made["input_ids"].shape[1] > recipe.max_length:
        raise ModelError(f"a window has more than {recipe.max_length} tokens; label with less room")
    return made


def _loss(model: Any, inputs: Any, batch: Sequence[CuratedPair]) -> Tensor:
    logits = model(**inputs).logits.squeeze(-1)
    labels = torch.tensor([float(pair.grounded) for pair in batch], device=logits.device)
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
