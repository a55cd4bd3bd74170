"""Pairs to score, and a model of another size to score them with."""

from __future__ import annotations

import random
from pathlib import Path

import torch
from transformers import (
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
)

from safepassage.schemas import LabelledExtraction
from safepassage.schemas.jsonl import BadLine, read_jsonl
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.encoders.weights import load_config
from safepassage.scoring_worker.scorers.folders import DEFAULT_MODEL

WORDS = ("hearing", "decision", "panel", "counsel", "claimant", "on", "the", "of", "in", "camera")


def labelled_pairs(path: Path, count: int) -> tuple[list[Pair], list[int]]:
    """Up to ``count`` quotes with their claims, evenly over the file, and whether they support."""
    read = [row for row in read_jsonl(path, LabelledExtraction) if not isinstance(row, BadLine)]
    usable = [row for row in read if row.context.strip()]
    rows = usable[:: max(1, len(usable) // count)][:count]
    pairs = [Pair(r.context, r.hypothesis, r.entity_type, r.value) for r in rows]
    return pairs, [int(row.label or 0) for row in rows]


def made_up_pairs(count: int) -> list[Pair]:
    """Pairs as long as those of a court decision's header."""
    chooser = random.Random(0)
    made = []
    for _ in range(count):
        year = chooser.randint(1998, 2024)
        premise = " ".join(chooser.choices(WORDS, k=chooser.randint(3, 22))) + f" May 4, {year}"
        value = f"May 4, {chooser.choice([year, year + 1])}"
        made.append(Pair(premise, f"Hearing Date: {value}", "Hearing Date", value))
    return made


def save_random_deberta(out: Path, *, tiny: bool = False) -> Path:
    """A DeBERTaV2 of v3-base's size (12 layers of 768, 184M parameters), or a ``tiny`` one.

    Its weights are random: speed does not depend on what they are. Its own tokenizer is on the
    hub; the default scorer's gives about as many tokens.
    """
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    config = DebertaV2Config(
        vocab_size=load_config(DEFAULT_MODEL).vocab_size,
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
        hidden_size=64 if tiny else 768,
        num_hidden_layers=2 if tiny else 12,
        num_attention_heads=4 if tiny else 12,
    )
    torch.manual_seed(0)
    DebertaV2ForSequenceClassification(config).save_pretrained(out)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(DEFAULT_MODEL / "tokenizer.json"),
        pad_token="<pad>",  # noqa: S106 - no password
    )
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    tokenizer.save_pretrained(out)
    return out
