"""The encoder of a folder of weights, read as a `PublishedHead` says."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import torch

from safepassage.scoring_worker.manifest import ModelError

from .devices import Placement
from .encoder import Encoder, Forward
from .heads import FirstAnswerForward, FirstTokenForward, StatementForward
from .prompt_pieces import TWO_TEXTS, Prompt, PromptPieces
from .published import Head, PublishedHead
from .weight_folders import foundation_of
from .weights import (
    head_kind,
    load_alignscore,
    load_config,
    load_full,
    load_hhem,
    load_seq2seq,
    load_token_classifier,
    load_tokenizer,
    longest_input,
)

_LOADERS: Final[dict[Head, Callable[[Path, torch.dtype], Any]]] = {
    "sequence": load_full,
    "tokens": load_token_classifier,
    "seq2seq": load_seq2seq,
    "alignscore": load_alignscore,
    "hhem": load_hhem,
}


def open_encoder(
    folder: Path,
    head: PublishedHead,
    placement: Placement,
    *,
    named: str = "",
    words: Path | None = None,
    max_length: int | None = None,
) -> Encoder:
    """The encoder of ``folder``.

    Args:
        named: the hub id of the weights, for those that bring no tokenizer.
        words: the folder of the tokenizer, by default ``folder``.
        max_length: tokens, where fewer are wanted than the model reads.

    Raises:
        ModelError: it is no such model, or has not the label that ``head`` names.
    """
    model = _LOADERS[head.head](folder, placement.dtype)
    if head.head != "seq2seq" and head.label >= model.config.num_labels:
        raise ModelError(f"{folder}: no logit {head.label} in a model of {model.config.num_labels}")
    tokenizer = load_tokenizer(words_of(folder, head) if words is None else words, named)
    longest = longest_tokens(head, model.config, tokenizer)
    length = min(longest, max_length or longest)
    placed = model.to(placement.device)
    return Encoder(
        placed,
        tokenizer,
        entailment=head.label,
        max_length=length,
        placement=placement,
        forward=_forward(placed, tokenizer.pad_token_id or 0, head),
        pieces=_pieces(tokenizer, head, length),
        hypothesis_first=head.sentence_first,
    )


def words_of(folder: Path, head: PublishedHead | None) -> Path:
    """Where the config and the tokenizer of the weights in ``folder`` are.

    Raises:
        ModelError: they are elsewhere, and not there.
    """
    return foundation_of(folder) if head is not None and head.head == "hhem" else folder


def head_in(folder: Path, head: PublishedHead) -> PublishedHead:
    """``head`` over the weights of ``folder``; of a row without a prompt, for tokens where its
    config says so.

    Raises:
        ModelError: the config says that they classify something else.
    """
    if head.head in ("seq2seq", "alignscore", "hhem"):
        return head
    found = head_kind(load_config(folder), folder) or head.head
    if found != head.head and (head.prompt or head.head == "tokens"):
        raise ModelError(f"{folder} has no head for {head.head}: its config names one for {found}")
    return replace(head, head=found)


def longest_tokens(head: PublishedHead, config: Any, tokenizer: Any) -> int:
    """Tokens that are read at most."""
    longest = longest_input(config, tokenizer)
    # A prompt was taught at the length that its row names, regardless of what the tokenizer says.
    return head.tokens if head.prompt and head.tokens else min(longest, head.tokens or longest)


def _forward(model: Any, pad: int, head: PublishedHead) -> Forward | None:
    if head.head == "tokens":
        return StatementForward(model, pad, head.label)
    if head.head == "hhem":
        return FirstTokenForward(model, pad)
    return FirstAnswerForward(model, pad, head.answers) if head.head == "seq2seq" else None


def _pieces(tokenizer: Any, head: PublishedHead, max_length: int) -> PromptPieces | None:
    if head.head in ("sequence", "alignscore") and not head.prompt:
        return None
    tokens = head.head == "tokens"
    prompt = Prompt(head.prompt or TWO_TEXTS, second=head.second or tokens)
    return PromptPieces(tokenizer, prompt, max_length, head.window)
