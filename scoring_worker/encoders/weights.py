"""Reading weights: safetensors only, no code of the model's, nothing left at random."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from safepassage.scoring_worker.manifest import ModelError, file_digest

ENTAILMENT_LABELS = frozenset({"entailment", "entail", "entailed", "supported", "supports"})
"""Names of the entailment logit, without case. "not_entailment" is not one of them."""

_HUB_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
_NO_LIMIT = 100_000
"""Tokenizers that know no limit claim one of 1e30."""


def base_folder(base: str, folder: Path | None) -> Path:
    """The folder of base weights: relative to ``folder``, or fetched from the hub.

    A hub id may name a revision behind an "@", so that weights do not change under a figure.

    Raises:
        ModelError: it is not there and cannot be fetched.
    """
    if folder is not None and (folder / base).is_dir():
        return folder / base
    return _from_hub(base)


def named_folder(named: str) -> Path:
    """The local folder ``named``, or that of a hub id.

    Raises:
        ModelError: there is neither.
    """
    folder = Path(named).expanduser()
    return folder if folder.is_dir() else _from_hub(named)


def base_digest(folder: Path) -> str:
    """Hex digits that change with the config, the vocabulary or any weight of ``folder``."""
    digest = hashlib.sha256()
    for pattern in ("config.json", "tokenizer.json", "*.safetensors"):
        for path in sorted(folder.glob(pattern)):
            digest.update(f"{path.name} {file_digest(path)}\n".encode())
    return digest.hexdigest()


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
        raise ModelError(f"{folder}: cannot read its config: {_line(error)}") from error


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
        raise ModelError(f"{folder}: cannot load its tokenizer: {_line(error)}") from error
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
        raise ModelError(f"{folder}: cannot load its model: {_line(error)}") from error
    return model.eval(), report


def _from_hub(base: str) -> Path:
    from huggingface_hub import snapshot_download  # noqa: PLC0415 (only hub ids need it)
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    try:
        name, _, revision = base.partition("@")
        return Path(snapshot_download(name, revision=revision or None, allow_patterns=_HUB_FILES))
    except (OSError, ValueError, HfHubHTTPError) as error:
        raise ModelError(
            f"cannot fetch {base!r} from the model hub: {_line(error)}; with no access to the "
            "hub, give the path of a folder that holds the model"
        ) from error


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


def _line(error: BaseException) -> str:
    """The first line of an error that libraries spread over many."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
