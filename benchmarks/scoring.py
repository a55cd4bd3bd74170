"""Pairs per second: ours, `CrossEncoder.predict`, one by one, padded to 512; bare and streamed.

    python benchmarks/scoring.py --extractions ../shared/data/tribunal/extractions.jsonl.gz

All ways score the same pairs with the same weights, in turns, and the best of the rounds counts,
by the wall and by the process's CPU clock (what one core does alone), so that what else runs on
the machine hurts all alike. Without ``--extractions`` the pairs are made up. On a machine with a
GPU the same is measured there, and for a randomly initialised model of DeBERTa-v3-base's size;
``--try-gpu-part`` walks through that part on the CPU with a tiny model. ``--stream`` runs the
score role on the embedded broker beside its scorer alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from scoring_cases import (
    as_aligned,
    labelled_pairs,
    made_up_pairs,
    save_merged,
    save_random_deberta,
)
from sentence_transformers import CrossEncoder
from sklearn.metrics import roc_auc_score
from stream import fresh_topics, score, stack_settings

from scoring_worker import Pair, load_scorer
from scoring_worker.encoders.devices import use_threads
from scoring_worker.encoders.quantised import has_int8
from streams.demo.embedded import embedded_stack

CPU_BATCH, GPU_BATCH = 32, 512  # CrossEncoder's own default, and what keeps a GPU busy
ONE_BY_ONE = 50
PADDED_TO_512 = {"cpu": 8, "cuda": 512}
STREAMED = 2_000

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
    if arguments.stream:
        figures["stream"] = _stream(pairs)
        share = figures["stream"]["share"]
        console.print(f"streamed through the score role: {share:.0%} of the bare scorer's rate")
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
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--try-gpu-part", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--text", type=Path)
    return parser.parse_args()


def _all_rates(
    arguments: argparse.Namespace, pairs: list[Pair], supported: list[int] | None
) -> Any:
    """Every machine part's name with its rates, one after the other."""
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        with tempfile.TemporaryDirectory() as folder:
            merged = save_merged(arguments.scorer, Path(folder) / "merged")
            ways = _ways(arguments.scorer, merged, pairs, device)
            yield device, _measured(ways, supported, arguments.rounds) | _size(merged, pairs)
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
        rates = _measured(_ways(None, model, many, device), None, arguments.rounds)
        yield f"{device}, {size}", rates | _size(model, many)


def _size(model: Path, pairs: Sequence[Pair]) -> dict[str, float]:
    """Tokens of a pair on average, special ones included."""
    peer = CrossEncoder(str(model), device="cpu").tokenizer
    encoded = peer([p.premise for p in pairs], [p.hypothesis for p in pairs])["input_ids"]
    return {"tokens_per_pair": round(statistics.mean(map(len, encoded)), 1)}


def _ways(scorer: str | None, model: Path, pairs: list[Pair], device: Any) -> dict[str, Way]:
    """The whole ``scorer`` with its checks, its encoder ``model`` alone, and the others on it."""
    texts = [(pair.premise, pair.hypothesis) for pair in pairs]
    peer = CrossEncoder(str(model), device=device, max_length=512)
    batch = CPU_BATCH if device == "cpu" else GPU_BATCH
    few, single = pairs[: PADDED_TO_512[device]], texts[:ONE_BY_ONE]
    made: dict[str, Way] = {}
    if scorer is not None:
        whole: Any = load_scorer(scorer, device=device)
        made["ours, as it ships"] = Way(
            len(pairs),
            lambda: whole.assess(pairs),
            lambda: np.array([one.score for one in whole.assess(pairs)]),
        )
    for precision in _precisions(scorer, device):
        bare: Any = load_scorer(model, device=device, precision=precision)
        made[f"our encoder, {bare.encoder.placement.precision}"] = _bare(bare.encoder, texts)
    entailment = bare.manifest.labels
    return made | {
        "CrossEncoder.predict": Way(
            len(pairs),
            lambda: peer.predict(texts, batch_size=batch),
            lambda: _probabilities(peer, texts, entailment),
        ),
        "one by one": Way(len(single), lambda: [peer.predict([one]) for one in single]),
        "padded to 512": Way(len(few), lambda: _padded(peer, few)),
    }


def _precisions(scorer: str | None, device: str) -> tuple[Any, ...]:
    return ("fp32", "int8") if scorer and device == "cpu" and has_int8() else ("auto",)


def _bare(encoder: Any, texts: Sequence[tuple[str, str]]) -> Way:
    def scores() -> Scores:
        return encoder.probabilities(*zip(*texts, strict=True))  # type: ignore[no-any-return]

    return Way(len(texts), scores, scores)


def _probabilities(peer: Any, texts: Sequence[tuple[str, str]], entailment: int) -> Scores:
    raw = peer.predict(texts, activation_fn=torch.nn.Identity(), convert_to_tensor=True).double()
    found = torch.sigmoid(raw) if raw.dim() == 1 else raw.softmax(-1)[:, entailment]
    return found.cpu().numpy()  # type: ignore[no-any-return]


def _padded(peer: Any, pairs: Sequence[Pair]) -> None:
    """Every pair padded to the model's maximum, as some published code does."""
    encoded = peer.tokenizer(
        [pair.premise for pair in pairs],
        [pair.hypothesis for pair in pairs],
        padding="max_length",
        max_length=512,
        truncation=True,
        return_tensors="pt",
    ).to(peer.model.device)
    with torch.inference_mode():
        peer.model(**encoded).logits.cpu()


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
    theirs = scores["CrossEncoder.predict"]
    auroc = {}
    if supported and len(set(supported)) == 2:
        auroc = {name: float(roc_auc_score(supported, one)) for name, one in scores.items()}
    ours = next(iter(ways))
    return {
        "pairs_per_second": {name: round(rate, 1) for name, rate in wall.items()},
        "pairs_per_cpu_second": {name: round(rate, 1) for name, rate in cpu.items()},
        "auroc": {name: round(share, 4) for name, share in auroc.items()},
        "largest_difference": {
            name: float(np.abs(one - theirs).max())
            for name, one in scores.items()
            if name.startswith("our encoder")
        },
        "times_cross_encoder": round(wall[ours] / wall["CrossEncoder.predict"], 2),
        "times_cross_encoder_by_cpu": round(cpu[ours] / cpu["CrossEncoder.predict"], 2),
    }


def _stream(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The score role on the embedded broker against its scorer alone, on the same events."""
    aligned = asyncio.run(as_aligned((list(pairs) * (1 + STREAMED // len(pairs)))[:STREAMED]))
    with embedded_stack() as stack:
        return asyncio.run(score(fresh_topics(stack_settings(stack)), aligned))


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
