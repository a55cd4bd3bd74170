"""The training loop: any number of rounds, resumable at any step, ended by processor time."""

import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import structlog
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from safepassage.scoring_worker.training.reading.fit import has_bf16

from .corpus import Corpus
from .examples import Example, collate
from .loss import pass_loss
from .model import FieldReader

log = structlog.get_logger(__name__)

CHECKPOINT = "checkpoint.safetensors"
WEIGHTS = "fields.safetensors"
_AT_ONCE = 640
"""Tokens of one forward pass: a step adds up the gradients of several, so that two gigabytes do."""


@dataclass(frozen=True, slots=True)
class FieldFit:
    """How to train. ``minutes`` are of processor time; the rate is steady for ``steady`` of them
    and falls to ``final`` of its height. New weights learn ``faster`` than the encoder's."""

    minutes: float
    learning_rate: float = 5e-5
    faster: float = 10.0
    tokens: int = 1_000
    warmup_steps: int = 20
    steady: float = 0.4
    final: float = 0.05
    weight_decay: float = 0.01
    seed: int = 0
    one_by_one: bool = False
    checkpoint_seconds: float = 240.0
    log_every: int = 20


@dataclass(frozen=True, slots=True)
class _Told:
    """How far a run is."""

    settings: dict[str, object]
    step: int
    spent: float


def fit(model: FieldReader, corpus: Corpus, folder: Path, settings: FieldFit) -> None:
    """Train ``model``; a run that was stopped goes on where its checkpoint is.

    Raises:
        ValueError: ``folder`` holds the checkpoint of another run, or the loss is not finite.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = set(map(id, model.new_weights()))
    learning = list(model.learning().values())
    rate = settings.learning_rate
    groups = [
        {"params": [one for one in learning if id(one) not in new], "lr": rate},
        {"params": [one for one in learning if id(one) in new], "lr": rate * settings.faster},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay, fused=True)
    heights = [float(group["lr"]) for group in optimizer.param_groups]
    step, spent = _resume(model, optimizer, folder, settings)
    began, saved, losses = time.process_time() - spent, time.monotonic(), []
    model.train()
    for batch in _batches(corpus, settings, step):
        spent = time.process_time() - began
        if spent >= settings.minutes * 60:
            break
        share = _share(step, spent / (settings.minutes * 60), settings)
        for group, height in zip(optimizer.param_groups, heights, strict=True):
            group["lr"] = height * share
        losses.append(_step(model, batch, corpus.tokens.pad))
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        if step % settings.log_every == 0:
            mean = round(sum(losses) / len(losses), 4)
            log.info("step", step=step, minutes=round(spent / 60, 1), loss=mean)
            losses = []
        if time.monotonic() - saved > settings.checkpoint_seconds:
            _checkpoint(model, optimizer, folder, _Told(asdict(settings), step, spent))
            saved = time.monotonic()
    model.eval()
    model.save(folder / WEIGHTS)


def _step(model: FieldReader, batch: Sequence[Example], pad: int) -> float:
    total, at = 0.0, 0
    while at < len(batch):
        size = max(1, _AT_ONCE // len(batch[at].ids))
        part = batch[at : at + size]
        at += size
        ids, mask = collate(part, pad)
        with torch.autocast("cpu", torch.bfloat16, enabled=has_bf16("cpu")):
            states = model.states(ids, mask)
        losses = [pass_loss(model, one, states[n, : len(one.ids)]) for n, one in enumerate(part)]
        loss = torch.stack(losses).sum() / len(batch)
        if not torch.isfinite(loss):
            raise ValueError("the loss is not finite: lower the learning rate")
        torch.autograd.backward(loss)
        total += loss.item()
    return total


def _batches(corpus: Corpus, settings: FieldFit, step: int) -> Iterator[list[Example]]:
    """Batches from step ``step`` on, the longest first within each, for ever."""
    number = 0
    while True:
        examples = corpus.round(number, seed=settings.seed, one_by_one=settings.one_by_one)
        made = batches_of(examples, settings.tokens, random.Random(f"{settings.seed}:{number}"))
        yield from made[step:]
        step = max(0, step - len(made))
        number += 1


def batches_of(examples: list[Example], tokens: int, rng: random.Random) -> list[list[Example]]:
    """Batches of about ``tokens`` tokens, of examples of like length, in random order."""
    ordered = sorted(examples, key=lambda one: len(one.ids) + rng.random() * 20, reverse=True)
    made: list[list[Example]] = []
    size = 0
    for example in ordered:
        if not made or size + len(example.ids) > tokens:
            made.append([])
            size = 0
        made[-1].append(example)
        size += len(example.ids)
    rng.shuffle(made)
    return made


def _share(step: int, spent: float, settings: FieldFit) -> float:
    """The share of the learning rate: up, steady, then down in a straight line."""
    rising = min(1.0, (step + 1) / settings.warmup_steps)
    if spent < settings.steady:
        return rising
    return rising * max(settings.final, 1.0 - (spent - settings.steady) / (1.0 - settings.steady))


def _checkpoint(
    model: FieldReader,
    optimizer: torch.optim.Optimizer,
    folder: Path,
    told: _Told,
) -> None:
    """Everything that the next step needs, in safetensors: nothing is ever unpickled."""
    tensors = {f"model/{name}": own.detach() for name, own in model.learning().items()}
    state = optimizer.state_dict()
    for parameter, own in state["state"].items():
        tensors |= {f"optimizer/{parameter}/{name}": tensor for name, tensor in own.items()}
    partial = folder / f"{CHECKPOINT}.partial"
    whole = {name: own.contiguous() for name, own in tensors.items()}
    save_file(whole, partial, metadata={"told": json.dumps(asdict(told))})
    os.replace(partial, folder / CHECKPOINT)


def _resume(
    model: FieldReader, optimizer: torch.optim.Optimizer, folder: Path, settings: FieldFit
) -> tuple[int, float]:
    """The step and the seconds of processor time that the run in ``folder`` has come to. A run may
    go on for more minutes than it was begun with."""
    path = folder / CHECKPOINT
    if not path.exists():
        return 0, 0.0
    tensors = {}
    with safe_open(path, framework="pt") as stored:
        told = json.loads(stored.metadata()["told"])
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    wanted = asdict(settings) | {"minutes": told["settings"]["minutes"]}
    if told["settings"] != wanted:
        raise ValueError(f"{path} is of a run with other settings: {told['settings']}")
    weights = {n.removeprefix("model/"): t for n, t in tensors.items() if n.startswith("model/")}
    model.load_state_dict(weights, strict=False)
    state = optimizer.state_dict()
    for name, tensor in tensors.items():
        if name.startswith("optimizer/"):
            _, parameter, what = name.split("/", 2)
            state["state"].setdefault(int(parameter), {})[what] = tensor
    optimizer.load_state_dict(state)
    return int(told["step"]), float(told["spent"])
