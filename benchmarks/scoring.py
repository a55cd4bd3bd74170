"""Pairs per second of a scorer: in batches and one by one.

    python benchmarks/scoring.py --extractions ../shared/data/tribunal/extractions.jsonl.gz

All ways score the same pairs, in turns, and the best of the rounds counts,
by the wall and by the process's CPU clock (what one core does alone), so that what else runs on
the machine hurts all alike. Without ``--extractions`` the pairs are made up. On a machine with a
GPU the same is measured there, and for a randomly initialised model of DeBERTa-v3-base's size;
``--try-gpu-part`` walks through that part on the CPU with a tiny model. `safepassage bench`
measures the role that streams.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from scoring_cases import labelled_pairs, made_up_pairs, save_random_deberta
from sklearn.metrics import roc_auc_score

from safepassage.scoring_worker import Pair, load_scorer
from safepassage.scoring_worker.encoders.devices import use_threads

ONE_BY_ONE = 50

Scores = np.ndarray[Any, np.dtype[np.float64]]
Run = Callable[[], object]


@dataclass(frozen=True)
class Way:
    """One way of scoring: the pairs of a turn, and the scores of all pairs where it has some."""

    pairs: int
    run: Run
    scores: Callable[[], Scores] | None = None


def main() -> None:
    """Measure, print, and write JSON and text."""
    arguments = _arguments()
    use_threads(arguments.threads)
    supported: list[int] | None = None
    if arguments.extractions:
        pairs, supported = labelled_pairs(arguments.extractions, arguments.pairs)
    else:
        pairs = made_up_pairs(arguments.pairs)
    console = Console(record=True, width=100)
    figures: dict[str, Any] = {
        "pairs": len(pairs),
        "mean_characters": statistics.mean(len(p.premise) + len(p.hypothesis) for p in pairs),
        "torch_threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "labels": "tribunal labels were written and checked by LLM annotators, not by lawyers",
        "rates": {},
    }
    for name, rates in _all_rates(arguments, pairs, supported):
        figures["rates"][name] = rates
        console.print(_table(name, rates))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if arguments.text:
        console.save_text(str(arguments.text))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scorer", default="default")
    parser.add_argument("--extractions", type=Path, help="labelled extractions, JSON lines (.gz)")
    parser.add_argument("--pairs", type=int, default=675, help="how many, made up or of the file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="of torch; by default all usable cores")
    parser.add_argument("--try-gpu-part", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--text", type=Path)
    return parser.parse_args()


def _all_rates(
    arguments: argparse.Namespace, pairs: list[Pair], supported: list[int] | None
) -> Any:
    """Every machine part's name with its rates, one after the other."""
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        ways = _ways(arguments.scorer, pairs, device)
        yield device, _measured(ways, supported, arguments.rounds)
    if not (torch.cuda.is_available() or arguments.try_gpu_part):
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wanted = len(pairs) if arguments.try_gpu_part else 20_000
    many = [
        Pair(f"{at} {pair.premise}", pair.hypothesis, pair.entity_type, pair.value)
        for at, pair in enumerate(pairs * -(-wanted // len(pairs)))
    ]
    with tempfile.TemporaryDirectory() as folder:
        model = save_random_deberta(Path(folder), tiny=arguments.try_gpu_part)
        size = "tiny DeBERTa" if arguments.try_gpu_part else "DeBERTa-v3-base size"
        yield (
            f"{device}, {size}",
            _measured(_ways(str(model), many, device), None, arguments.rounds),
        )


def _ways(scorer: str, pairs: list[Pair], device: Any) -> dict[str, Way]:
    """The ``scorer`` in batches, in every precision that it has there, and one pair at a time."""
    made: dict[str, Way] = {}
    for precision in _precisions(device):
        whole: Any = load_scorer(scorer, device=device, precision=precision)
        name = "as it ships" if precision == "auto" else precision
        made[name] = Way(len(pairs), partial(whole.assess, pairs), partial(_scores, whole, pairs))
    alone: Any = load_scorer(scorer, device=device)
    few = pairs[:ONE_BY_ONE]
    made["one by one"] = Way(len(few), lambda: [alone.assess([pair]) for pair in few])
    return made


def _precisions(device: str) -> tuple[Any, ...]:
    return ("auto", "fp32") if device == "cpu" else ("auto",)


def _scores(scorer: Any, pairs: Sequence[Pair]) -> Scores:
    """Of every pair; 0 of one that could not be judged, as nothing accepts it."""
    return np.array([one.score or 0.0 for one in scorer.assess(pairs)])


def _measured(ways: dict[str, Way], supported: list[int] | None, rounds: int) -> dict[str, Any]:
    """Rates of the best of the rounds, and what the scores are worth."""
    wall, cpu = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    scores = {name: way.scores() for name, way in ways.items() if way.scores}  # warms up, too
    for _ in range(rounds):
        for name, way in ways.items():
            started, spent = time.perf_counter(), time.process_time()
            way.run()
            wall[name] = max(wall[name], way.pairs / (time.perf_counter() - started))
            cpu[name] = max(cpu[name], way.pairs / (time.process_time() - spent))
    auroc = {}
    if supported and len(set(supported)) == 2:
        auroc = {name: float(roc_auc_score(supported, one)) for name, one in scores.items()}
    shipped = next(iter(scores.values()))
    return {
        "pairs_per_second": {name: round(rate, 1) for name, rate in wall.items()},
        "pairs_per_cpu_second": {name: round(rate, 1) for name, rate in cpu.items()},
        "auroc": {name: round(share, 4) for name, share in auroc.items()},
        "largest_difference": max(float(np.abs(one - shipped).max()) for one in scores.values()),
    }


def _table(name: str, rates: dict[str, Any]) -> Table:
    table = Table(title=f"{name}: pairs per second")
    for column in ("way", "pairs/s", "per CPU second", "AUROC"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for way, rate in rates["pairs_per_second"].items():
        auroc = rates["auroc"].get(way)
        shown = "" if auroc is None else f"{auroc:.4f}"
        table.add_row(way, f"{rate:,.0f}", f"{rates['pairs_per_cpu_second'][way]:,.0f}", shown)
    table.caption = ", ".join(
        f"{key.replace('_', ' ')} {value:.3g}"
        for key, value in rates.items()
        if isinstance(value, float)
    )
    return table


if __name__ == "__main__":
    main()
