"""Where a model runs, in which precision, and with how many threads."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from safepassage.scoring_worker.manifest import ModelError

from .int8_layers import has_int8

DeviceChoice = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["fp32", "bf16", "fp16", "int8"]
PrecisionChoice = Literal["auto", "fp32", "bf16", "fp16", "int8"]

_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@dataclass(frozen=True, slots=True)
class Placement:
    """A device, the precision of the weights on it, and the tokens one forward pass takes.

    ``demanded`` says whether somebody named the precision; otherwise it is the machine's best.

    ``tile_tokens`` is the padded-token budget of a forward pass. On a CPU more than 512 gains
    nothing (the matrix products are as fast as they get, and the activations leave the cache);
    a GPU needs thousands to be busy.
    """

    device: torch.device
    precision: Precision
    tile_tokens: int
    demanded: bool = False

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights. int8 keeps fp32 outside its linear layers."""
        return _DTYPES[self.precision]


_DTYPES: dict[Precision, torch.dtype] = {
    "fp32": torch.float32,
    "int8": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}
_TILE_TOKENS = {"cpu": 512, "cuda": 32_768, "mps": 4_096}


def place(
    device: DeviceChoice = "auto",
    precision: PrecisionChoice = "auto",
    *,
    on_cpu: Precision = "fp32",
) -> Placement:
    """The placement for a choice. "auto" takes a GPU where there is one.

    "auto" precision is ``on_cpu`` on a CPU (never bf16, which is ten times slower than fp32 without
    AVX512-BF16 or AMX), but fp32 where int8 has no kernels. On CUDA it is bf16, or fp16 before
    Ampere; on MPS fp16. Raises `ModelError` where the device is not there, or the precision does
    not exist on it."""
    chosen = torch.device(_available() if device == "auto" else _demand(device))
    picked = _automatic(chosen, on_cpu) if precision == "auto" else precision
    if picked == "int8" and chosen.type != "cpu":
        raise ModelError("int8 runs on the CPU only; use bf16 or fp16 on a GPU")
    if picked == "fp16" and chosen.type == "cpu":
        raise ModelError("fp16 has no fast CPU kernels; use fp32, bf16 or int8")
    return Placement(chosen, picked, _TILE_TOKENS[chosen.type], demanded=precision != "auto")


def demanded_precision(placement: Placement, usual: Precision) -> str:
    """What marks a revision: "-" and the precision, where somebody demanded another than the
    scorer's ``usual`` one; else nothing.

    What a machine does best is no part of it: a release that was made on x86 (int8) names the
    same scorer to a worker with a GPU (bf16) or an ARM CPU (fp32), where a score may differ in
    its third decimal.
    """
    marked = placement.demanded and placement.precision != usual
    return f"-{placement.precision}" if marked else ""


def usable_cores() -> int:
    """Cores this process may use: its affinity, or less under a cgroup quota; at least 1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, _quota() or cores or 1))


def use_threads(threads: int | None = None) -> None:
    """Let torch compute with ``threads`` threads, by default `usable_cores`.

    torch counts the machine's cores, not the container's quota, and would run 64 threads on 2.
    An explicit OMP_NUM_THREADS is left as it is.
    """
    if threads is not None or "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(threads or usable_cores())


class _OneThread:
    """How many calls are inside `one_thread_each`, and the threads that torch had before."""

    lock = threading.Lock()
    inside = 0
    before = 1


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let every operator of torch compute with one thread, for callers that run several at once.

    Two forward passes on a core each wait for nobody, where one on two cores meets at the end of
    every operator; and how a sum is split does not depend on the machine's cores any more. The
    setting is the process's: the last of overlapping callers puts back what was.
    """
    with _OneThread.lock:
        if not _OneThread.inside:
            _OneThread.before = torch.get_num_threads()
        _OneThread.inside += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _OneThread.lock:
            _OneThread.inside -= 1
            if not _OneThread.inside:
                torch.set_num_threads(_OneThread.before)


def threads_of_torch() -> int:
    """Threads that torch may use: also while somebody is inside `one_thread_each`."""
    with _OneThread.lock:
        return _OneThread.before if _OneThread.inside else torch.get_num_threads()


def _available() -> DeviceChoice:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _demand(device: DeviceChoice) -> DeviceChoice:
    if device not in _TILE_TOKENS:
        raise ModelError(f"no device {device!r}; use auto, cpu, cuda or mps")
    there = torch.cuda.is_available() if device == "cuda" else torch.backends.mps.is_available()
    if device != "cpu" and not there:
        raise ModelError(f'torch sees no {device} device here; use "cpu"')
    return device


def _automatic(device: torch.device, on_cpu: Precision) -> Precision:
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"
    if device.type == "mps":
        return "fp16"
    return on_cpu if on_cpu != "int8" or has_int8() else "fp32"


def _quota() -> int | None:
    try:
        quota, period = _CGROUP_QUOTA.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else -(-int(quota) // int(period))
