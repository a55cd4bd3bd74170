"""The training loop: resumable at any step, with its progress in the log.

Full fine-tuning with AdamW; the rate rises, stays, and falls. What a step reads depends on the
seed and its number alone, so a run that was stopped goes on as if it had not been.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import structlog
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from safepassage.scoring_worker.encoders.reader_model import ReaderModel

from .examples import INPUTS, Example, batches, collate
from .loss import reading_loss
from .upper_layers import UpperLayers

log = structlog.get_logger(__name__)

CHECKPOINT = "checkpoint.safetensors"
WEIGHTS = "reader.safetensors"


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How to train. ``steady`` is the share of the steps after which the rate falls, to
    ``final`` of its height. ``most_steps`` ends the only pass before all examples were read.
    ``checkpoint_seconds`` is how much work a kill may cost. ``layers`` is how many of the last
    layers learn; None is all of them."""

    learning_rate: float = 2e-4
    batch_size: int = 32
    warmup_steps: int = 60
    steady: float = 0.6
    final: float = 0.05
    weight_decay: float = 0.01
    seed: int = 0
    most_steps: int | None = None
    checkpoint_seconds: float = 120.0
    log_every: int = 50
    layers: int | None = None


def fit(
    model: ReaderModel,
    examples: Sequence[Example],
    folder: Path,
    settings: FitSettings,
    *,
    pad: int,
    device: str = "cpu",
    stop: Callable[[], bool] = lambda: False,
    on_step: Callable[[int, int], None] = lambda *_: None,
) -> bool:
    """Train ``model`` on ``examples`` once through; resumes from ``folder`` where it can.

    Returns:
        Whether the run reached its end; False where ``stop`` ended it after a checkpoint.

    Raises:
        ValueError: there is nothing to train on, or ``folder`` holds another run's checkpoint.
    """
    if not examples:
        raise ValueError("there are no examples to train on")
    folder.mkdir(parents=True, exist_ok=True)
    model.to(device)
    upper = None
    if settings.layers:
        upper = UpperLayers(model, settings.layers)
        upper.keep(examples, pad)
    model.train()
    order = batches(examples, settings.batch_size, settings.seed)[: settings.most_steps]
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        trained, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    run = {"settings": asdict(settings), "examples": len(examples)}
    step = _resume(folder, model, optimizer, run)
    said, last = _Progress(step, len(order), settings.log_every), time.monotonic()
    for number in range(step, len(order)):
        rate = settings.learning_rate * _share(number, len(order), settings)
        for group in optimizer.param_groups:
            group["lr"] = rate
        chosen = [examples[at] for at in order[number]]
        loss = _loss(model, upper, chosen, pad, device)
        if not torch.isfinite(loss):
            raise ValueError(f"the loss is not finite at step {number}: lower the learning rate")
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        said.step(number + 1, loss.item())
        on_step(number + 1, len(order))
        if time.monotonic() - last > settings.checkpoint_seconds or stop():
            _checkpoint(folder, model, optimizer, run, number + 1)
            last = time.monotonic()
            if stop():
                return False
    model.eval()
    save_weights(model, folder / WEIGHTS)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return True


def _loss(
    model: ReaderModel, upper: UpperLayers | None, chosen: list[Example], pad: int, device: str
) -> Tensor:
    batch = {name: tensor.to(device) for name, tensor in collate(chosen, pad).items()}
    with torch.autocast(device, dtype=torch.bfloat16, enabled=has_bf16(device)):
        read = {name: batch.pop(name) for name in INPUTS if name in batch}
        logits = upper.logits(chosen, read) if upper else model(**read)
        return reading_loss(logits, batch)


class _Progress:
    """The mean loss of every ``each`` steps and the minutes that are left, in the log."""

    def __init__(self, first: int, steps: int, each: int) -> None:
        self._first, self._steps, self._each = first, steps, each
        self._began = time.monotonic()
        self._losses: list[float] = []

    def step(self, number: int, loss: float) -> None:
        self._losses.append(loss)
        if number % self._each:
            return
        left = (time.monotonic() - self._began) / (number - self._first) * (self._steps - number)
        mean = round(sum(self._losses) / len(self._losses), 4)
        log.info("step", step=number, of=self._steps, loss=mean, minutes_left=round(left / 60, 1))
        self._losses = []


def has_bf16(device: str) -> bool:
    """Whether bfloat16 is the faster type: on a CPU without instructions for it, it takes twenty
    times as long as float32."""
    if torch.device(device).type != "cpu":
        return True
    can = torch.cpu.get_capabilities()
    return bool(can.get("avx512_bf16") or can.get("amx_bf16") or can.get("bf16"))


def save_weights(model: ReaderModel, path: Path) -> None:
    """All weights that training changes, as safetensors; the file is whole or not there."""
    tensors = {name: t.detach().cpu().contiguous() for name, t in _state(model).items()}
    partial = path.with_name(f"{path.name}.partial")
    save_file(tensors, partial)
    os.replace(partial, path)


def load_weights(model: ReaderModel, path: Path) -> None:
    """Take the weights that training changed from ``path``. Raises `RuntimeError`: names or shapes
    are not the model's."""
    _take(model, load_file(path))


def is_fitted(folder: Path) -> bool:
    """Whether a run in ``folder`` has reached its end: `WEIGHTS` are its."""
    return (folder / WEIGHTS).exists() and not (folder / CHECKPOINT).exists()


def _state(model: ReaderModel) -> dict[str, Tensor]:
    """The weights that are trained: the frozen words, nine tenths of all, do not change."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def _take(model: ReaderModel, state: dict[str, Tensor]) -> None:
    found = model.load_state_dict(state, strict=False)
    lacking = _state(model).keys() & set(found.missing_keys)
    if lacking or found.unexpected_keys:
        raise RuntimeError(
            f"these are another model's weights: {sorted(lacking | set(found.unexpected_keys))[:3]}"
        )


def _share(step: int, steps: int, settings: FitSettings) -> float:
    """The share of the learning rate at ``step``: up, steady, then down in a straight line."""
    if step < settings.warmup_steps:
        return (step + 1) / settings.warmup_steps
    falls = settings.steady * steps
    if step < falls:
        return 1.0
    return 1.0 - (1.0 - settings.final) * (step - falls) / max(1.0, steps - falls)


def _checkpoint(
    folder: Path, model: ReaderModel, optimizer: Any, run: dict[str, Any], step: int
) -> None:
    """Everything that the next step needs, in safetensors: nothing is ever unpickled."""
    state = optimizer.state_dict()
    tensors = {f"model/{name}": tensor for name, tensor in _state(model).items()}
    for parameter, own in state["state"].items():
        tensors |= {f"optimizer/{parameter}/{name}": tensor for name, tensor in own.items()}
    told = {"run": run, "step": step, "groups": state["param_groups"]}
    partial = folder / f"{CHECKPOINT}.partial"
    cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(cpu, partial, metadata={"told": json.dumps(told)})
    os.replace(partial, folder / CHECKPOINT)


def _resume(folder: Path, model: ReaderModel, optimizer: Any, run: dict[str, Any]) -> int:
    path = folder / CHECKPOINT
    if not path.exists():
        return 0
    with safe_open(path, framework="pt") as stored:
        told = json.loads(stored.metadata()["told"])
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 (no dict)
    if told["run"] != run:
        raise ValueError(f"{folder} holds the checkpoint of another run; choose another folder")
    weights: dict[str, torch.Tensor] = {}
    moments: dict[int, dict[str, torch.Tensor]] = defaultdict(dict)
    for name, tensor in tensors.items():
        kind, _, rest = name.partition("/")
        if kind == "model":
            weights[rest] = tensor
        else:
            parameter, _, moment = rest.partition("/")
            moments[int(parameter)][moment] = tensor
    _take(model, weights)
    optimizer.load_state_dict({"state": dict(moments), "param_groups": told["groups"]})
    log.info("resumed", step=told["step"])
    return int(told["step"])
