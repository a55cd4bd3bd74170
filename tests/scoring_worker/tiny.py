"""Tiny random models, made on the spot: real formats without real weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    MPNetConfig,
    MPNetModel,
    PreTrainedTokenizerFast,
)

from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.encoders.adapter import adapt, save_adapter
from safepassage.scoring_worker.encoders.pinned import WEIGHTS_FILE
from safepassage.scoring_worker.encoders.reader_model import (
    ReaderModel,
    reader_base_digest,
    save_base,
    save_reader,
)
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.manifest import ScorerManifest, file_digest
from safepassage.scoring_worker.weighing.opinion import SHAPES
from safepassage.scoring_worker.weighing.stack import ShapeWeights, Stack

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789.,:;-/'\"()[]"
NLI_LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}
SIZES: dict[str, Any] = {
    "vocab_size": 2 * len(ALPHABET) + 5,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "initializer_range": 0.4,
}
NO_DROPOUT: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def tokenizer(max_length: int = 64) -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer over single characters."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *ALPHABET]
    vocabulary = {piece: at for at, piece in enumerate([*pieces, *("##" + c for c in ALPHABET)])}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=1000))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=max_length,
    )


def bert(
    folder: Path, *, seed: int = 0, labels: dict[int, str] | None = None, typed: bool = True
) -> Path:
    """A BERT classifier of 2 layers, saved as transformers saves it."""
    torch.manual_seed(seed)
    names = NLI_LABELS if labels is None else labels
    config = BertConfig(
        **SIZES,
        max_position_embeddings=64,
        id2label=names,
        label2id={name: at for at, name in names.items()},
    )
    return _saved(BertForSequenceClassification(config), folder, typed=typed)


def deberta(folder: Path) -> Path:
    """A DeBERTaV2 classifier of 2 layers: no packed forward pass, no token types."""
    torch.manual_seed(0)
    config = DebertaV2Config(
        **SIZES,
        max_position_embeddings=64,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=16,
        type_vocab_size=0,
        id2label=NLI_LABELS,
        label2id={name: at for at, name in NLI_LABELS.items()},
    )
    return _saved(DebertaV2ForSequenceClassification(config), folder, typed=False)


READER_LENGTH = 256
STACK = Stack(
    shapes={
        shape: ShapeWeights(
            bias=0.0,
            weights={"answer_same": 1.0, "value_mean": 1.0, "rival": -0.5, "entailed": 1.0},
        )
        for shape in SHAPES
    }
)


OF_A_READER: dict[str, Any] = {
    "kind": "reader",
    "labels": 0,
    "max_length": READER_LENGTH,
    "stack": STACK.model_dump(mode="json"),
    "trained_on": ("nothing",),
    "learnt_from": LearntFrom(),
}


def reader(*, seed: int = 0) -> ReaderModel:
    """A reader over a BERT of 2 layers; its words are what they are after a trip through a file."""
    torch.manual_seed(seed)
    config = BertConfig(
        **SIZES,
        max_position_embeddings=READER_LENGTH,
        **NO_DROPOUT,
    )
    return ReaderModel(BertModel(config, add_pooling_layer=False)).eval()


def reader_scorer(folder: Path, *, seed: int = 0, name: str = "tiny") -> Path:
    """A scorer of kind "reader" that stands on itself, with a stack of few coefficients."""
    model = reader(seed=seed)
    save_base(model, tokenizer(READER_LENGTH).backend_tokenizer, folder)
    save_reader(model, folder)
    ScorerManifest(
        name=name,
        base_digest=reader_base_digest(folder),
        **OF_A_READER,
    ).save(folder)
    return folder


BASE = "somebody/tiny-mpnet@" + "0" * 40


def adapted_scorer(folder: Path, base: Path, *, seed: int = 0) -> tuple[Path, ReaderModel]:
    """A scorer of kind "reader" over an MPNet that lies apart, in ``base``, and the model as it
    was when its adapter was saved."""
    torch.manual_seed(seed)
    config = MPNetConfig(
        **SIZES,
        max_position_embeddings=READER_LENGTH + 2,
        pad_token_id=0,
        **NO_DROPOUT,
    )
    encoder = MPNetModel(config, add_pooling_layer=False)
    encoder.save_pretrained(base)
    model = ReaderModel(encoder)
    adapt(model, 4)
    for name, weight in model.named_parameters():
        if name.endswith(".up"):
            torch.nn.init.normal_(weight, std=0.1)
    save_adapter(model, folder)
    config.to_json_file(folder / "config.json")
    tokenizer(READER_LENGTH).backend_tokenizer.save(str(folder / "tokenizer.json"))
    ScorerManifest(
        name="adapted",
        base=BASE,
        base_digest=file_digest(base / WEIGHTS_FILE),
        **OF_A_READER,
        languages=("en",),
    ).save(folder)
    return folder, model.eval()


def pair(premise: str = "decision: may 4, 2015", value: str = "2015", kind: str = "Date") -> Pair:
    """A pair whose hypothesis is written as h(y) writes it."""
    return Pair(premise, f"{kind}: {value}", kind, value)


def _saved(model: torch.nn.Module, folder: Path, *, typed: bool) -> Path:
    model.eval().save_pretrained(folder)
    made = tokenizer()
    types = ["token_type_ids"] if typed else []
    made.model_input_names = ["input_ids", *types, "attention_mask"]
    made.save_pretrained(folder)
    return folder
