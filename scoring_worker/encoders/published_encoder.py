"""The encoder of a folder of weights, read as a `PublishedHead` says."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from safepassage.scoring_worker.manifest import ModelError

from .batching import Piece
from .devices import Placement
from .encoder import Encoder, Forward
from .padded import PaddedForward, laid_out
from .prompt_pieces import TWO_TEXTS, Prompt, PromptPieces
from .published import PublishedHead
from .weight_folders import foundation_of
from .weights import head_kind, load_config, load_full, load_tokenizer, longest_input


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
    model = load_full(folder, placement.dtype, head.head)
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


class FirstTokenForward(PaddedForward):
    """Reads a token classifier at the first token of each piece, as HHEM 2.1 is read."""

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, labels] of a tile."""
        return super().logits(tile)[:, 0]


class StatementForward(PaddedForward):
    """Reads a token classifier at the token of the statement that ``label`` fits least: a statement
    is supported if each of its tokens is."""

    def __init__(self, model: Any, pad_token: int, label: int) -> None:
        super().__init__(model, pad_token)
        self._label = label

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, labels] of a tile. Raises `RuntimeError` where a statement has no
        token."""
        every = super().logits(tile).float()
        said = torch.softmax(every, dim=-1)[..., self._label]
        if not all(piece.kept for piece in tile):
            raise RuntimeError("a statement has no token of its own")
        least = [
            piece.kept[int(said[at, list(piece.kept)].argmin())] for at, piece in enumerate(tile)
        ]
        return every[torch.arange(len(tile)), least]


class FirstAnswerForward:
    """Reads an encoder-decoder at the first token of its answer, the ids in ``answers`` alone."""

    def __init__(self, model: Any, pad_token: int, answers: tuple[int, int]) -> None:
        self._model = model
        self._pad_token = pad_token
        self._answers = list(answers)

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, 2] of a tile."""
        inputs = laid_out(tile, self._pad_token, types=False)
        moved = {name: rows.to(self._model.device) for name, rows in inputs.items()}
        start = self._model.config.decoder_start_token_id
        begun = torch.full((len(tile), 1), start, device=self._model.device)
        logits: Tensor = self._model(**moved, decoder_input_ids=begun).logits
        return logits[:, 0, self._answers]
