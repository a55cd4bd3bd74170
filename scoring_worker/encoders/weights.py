"""Reading weights with transformers: safetensors only, no code of the model's, nothing left at
random. The readers that ship are built without it (`architectures`): it costs seconds and 180 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from safepassage.scoring_worker.manifest import ModelError

from .weight_folders import first_line

_NO_LIMIT = 100_000
"""Tokenizers that know no limit claim one of 1e30."""


def load_full(folder: Path, dtype: torch.dtype) -> Any:
    """The sequence classifier of ``folder``, ready for inference.

    Raises:
        ModelError: it is no such model, or some of its weights are missing.
    """
    model, report = _load(folder, dtype=dtype)
    if report.get("mismatched_keys"):
        raise ModelError(f"{folder}: weights and config disagree on shapes")
    missing = report["missing_keys"]
    if missing:
        raise ModelError(
            f"{folder}: its weights lack {', '.join(sorted(missing)[:3])}; this is no trained "
            "sequence classifier"
        )
    return model


def load_with_new_head(folder: Path) -> Any:
    """The encoder of ``folder`` under a new head of one logit, to be trained: what the head starts
    from is drawn from torch's generator.

    Raises:
        ModelError: it is no such model, or holds no safetensors.
    """
    model, _ = _load(folder, num_labels=1, ignore_mismatched_sizes=True)
    return model


def load_config(folder: Path) -> Any:
    """The transformers config of ``folder``.

    Raises:
        ModelError: there is none, or it is of a model that needs code of its own.
    """
    try:
        with _quiet():
            return AutoConfig.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{folder}: cannot read its config: {first_line(error)}") from error


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of ``folder``.

    Raises:
        ModelError: there is none.
    """
    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ModelError(f"{folder}: cannot load its tokenizer: {first_line(error)}") from error
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(f"{folder}: only tokenizers with a tokenizer.json are supported")
    return tokenizer


def longest_input(config: Any, tokenizer: Any) -> int:
    """Tokens a model takes at most: what its positions and its tokenizer both allow."""
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < _NO_LIMIT else []
    positions = getattr(config, "max_position_embeddings", None)
    if positions:
        # RoBERTa counts positions from the padding index on
        offset = (config.pad_token_id or 0) + 1 if "roberta" in config.model_type else 0
        limits.append(positions - offset)
    return int(min(limits, default=512))


def _load(folder: Path, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The sequence classifier, and transformers' report of which weights were found."""
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"{folder} holds no safetensors file; convert the weights first "
            "(model.save_pretrained writes safetensors), pickles are never loaded"
        )
    try:
        with _quiet():
            model, report = AutoModelForSequenceClassification.from_pretrained(
                folder,
                **options,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
            )
    except (OSError, ValueError, KeyError, RuntimeError, TypeError, SafetensorError) as error:
        raise ModelError(f"{folder}: cannot load its model: {first_line(error)}") from error
    return model.eval(), report


@contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' progress bars and load reports: what matters is raised here."""
    logs: Any = transformers.logging
    level, bars = logs.get_verbosity(), logs.is_progress_bar_enabled()
    logs.set_verbosity_error()
    logs.disable_progress_bar()
    try:
        yield
    finally:
        logs.set_verbosity(level)
        if bars:
            logs.enable_progress_bar()
