"""Tiny random models, made on the spot: real formats without real weights."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
)

from scoring_worker import Pair

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789.,:;-/'\"()[]"
NLI_LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}


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
        vocab_size=2 * len(ALPHABET) + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.4,
        id2label=names,
        label2id={name: at for at, name in names.items()},
    )
    return _saved(BertForSequenceClassification(config), folder, typed=typed)


def deberta(folder: Path) -> Path:
    """A DeBERTaV2 classifier of 2 layers: no packed forward pass, no token types."""
    torch.manual_seed(0)
    config = DebertaV2Config(
        vocab_size=2 * len(ALPHABET) + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=16,
        type_vocab_size=0,
        initializer_range=0.4,
        id2label=NLI_LABELS,
        label2id={name: at for at, name in NLI_LABELS.items()},
    )
    return _saved(DebertaV2ForSequenceClassification(config), folder, typed=False)


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
