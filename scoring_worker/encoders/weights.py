"""Reading weights with transformers: no code of the model's is run, nothing is left at random.

Safetensors are read first. Weights that are published as a pickle alone (``pytorch_model.bin``) are
read by torch's ``weights_only`` reader, which builds tensors and nothing else. The readers that
ship are built without transformers (`architectures`): it costs seconds and 180 MB.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
)

from safepassage.scoring_worker.manifest import ModelError

from .published import Head, head_of
from .weight_folders import (
    CHECKPOINTS,
    PICKLES,
    SENTENCEPIECES,
    TOKENIZERS,
    VOCABULARIES,
    first_line,
    foundation_of,
    from_hub,
)

_HEADS: Final[dict[str, Head]] = {
    "ForSequenceClassification": "sequence",
    "ForTokenClassification": "tokens",
}

_TRAINED: Final[dict[Head, tuple[Any, str]]] = {
    "sequence": (AutoModelForSequenceClassification, "sequence classifier"),
    "tokens": (AutoModelForTokenClassification, "token classifier"),
    "seq2seq": (AutoModelForSeq2SeqLM, "seq2seq model"),
}

_ALIGNSCORE: Final = {
    "base_model.pooler.dense.": "classifier.dense.",
    "base_model.": "roberta.",
    "tri_layer.": "classifier.out_proj.",
}

_T5_WORDS: Final = ("transformer.shared.weight", "transformer.encoder.embed_tokens.weight")

_NO_LIMIT = 100_000
"""Tokenizers that know no limit claim one of 1e30."""


def load_full(folder: Path, dtype: torch.dtype, head: Head = "sequence") -> Any:
    """The model of ``folder`` with its trained ``head``, ready for inference. Raises `ModelError`
    where it is no such model, or some of its weights are missing."""
    if head == "alignscore":
        return _load_alignscore(folder, dtype)
    if head == "hhem":
        return _load_hhem(folder, dtype)
    if head == "sequence" and head_kind(load_config(folder), folder) == "tokens":
        raise ModelError(f"{folder} is a token classifier, not one of sequences")
    kind, called = _TRAINED[head]
    model, report = _load(folder, kind, dtype=dtype)
    absent = sorted(report["missing_keys"]) + sorted(key for key, *_ in report["mismatched_keys"])
    if absent:  # transformers drew them at random
        raise ModelError(
            f"{folder}: its weights lack {', '.join(absent[:3])}; this is no trained {called}"
        )
    return model


def head_kind(config: Any, folder: Path) -> Head | None:
    """What the head was trained to classify, by ``config.architectures``; None where that is empty.

    The names of weights do not tell: a ModernBERT for tokens has those of one for sequences. Raises
    `ModelError` where the config names an architecture without such a head."""
    named = [str(one) for one in getattr(config, "architectures", None) or ()]
    kinds = {kind for one in named for ending, kind in _HEADS.items() if one.endswith(ending)}
    if named and len(kinds) != 1:
        raise ModelError(
            f"{folder} holds a {', '.join(named)}; a scorer needs one that ends in "
            f"{' or '.join(_HEADS)}"
        )
    return kinds.pop() if kinds else None


def load_with_new_head(folder: Path) -> Any:
    """The encoder of ``folder`` under a new head of one logit, to be trained: what the head starts
    from is drawn from torch's generator. Raises `ModelError` where it is no such model, or its
    weights lack a part of the encoder."""
    # Half precision, as some are published, would not survive the small steps of training.
    options = {"num_labels": 1, "ignore_mismatched_sizes": True, "dtype": torch.float32}
    model, report = _load(folder, AutoModelForSequenceClassification, **options)
    encoder = f"{model.base_model_prefix}."
    # Many checkpoints lack a pooler; it learns with the head.
    drawn = [
        name
        for name in (*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"]))
        if name.startswith(encoder) and not name.startswith(f"{encoder}pooler.")
    ]
    if drawn:
        raise ModelError(
            f"{folder}: its weights lack {', '.join(sorted(drawn)[:3])}, which training would draw "
            "at random; fetch it again"
        )
    return model


def load_headless(folder: Path, dtype: torch.dtype) -> Any:
    """The encoder of ``folder`` without any head, ready for inference. Raises `ModelError` where it
    is no such model, or holds no weights."""
    model, report = _load(folder, AutoModel, dtype=dtype)
    # Poolers are not read, and many checkpoints lack one.
    missing = [name for name in report["missing_keys"] if not name.startswith("pooler.")]
    if missing or report.get("mismatched_keys"):
        raise ModelError(f"{folder}: its weights lack parts of the encoder; fetch it again")
    return model


def _load_alignscore(folder: Path, dtype: torch.dtype) -> Any:
    """AlignScore's classifier of three labels, from the one checkpoint beside the config and the
    tokenizer of its RoBERTa. Its head over the pooled first token is RoBERTa's own under other
    names; its heads for two labels, for a number and for hidden words are not read."""
    config = load_config(folder)
    config.num_labels = 3
    found = {_renamed(name): tensor for name, tensor in _checkpoint(folder).items()}
    try:
        kind: Any = AutoModelForSequenceClassification
        model = kind.from_config(config, dtype=dtype)
        wanted = model.state_dict().keys()
        model.load_state_dict({name: found[name] for name in wanted})
    except (ValueError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"{folder} does not hold AlignScore of the config beside it: {first_line(error)}"
        ) from error
    return model.eval()


def _load_hhem(folder: Path, dtype: torch.dtype) -> Any:
    """HHEM 2.1's token classifier. Its own code is never run: transformers has the same model."""
    config, path = load_config(foundation_of(folder)), folder / "model.safetensors"
    config.num_labels = 2
    try:
        found = {name.removeprefix("t5."): weight for name, weight in load_file(path).items()}
    except (OSError, SafetensorError) as error:
        raise ModelError(f"cannot read {path} as safetensors") from error
    # Stored once and used under two names.
    if (embedded := next((found[name] for name in _T5_WORDS if name in found), None)) is not None:
        found |= dict.fromkeys(_T5_WORDS, embedded)
    try:
        kind: Any = AutoModelForTokenClassification
        model = kind.from_config(config, dtype=dtype)
        model.load_state_dict(found)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{folder} does not hold the weights of HHEM 2.1") from error
    model.tie_weights()
    return model.eval()


def is_hhem(folder: Path) -> bool:
    """Whether ``folder`` says of itself that it is HHEM 2."""
    try:
        own = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(own, dict) and str(own.get("model_type", "")).startswith("HHEMv2")


def _renamed(name: str) -> str:
    for theirs, ours in _ALIGNSCORE.items():
        if name.startswith(theirs):
            return ours + name.removeprefix(theirs)
    return name


def _checkpoint(folder: Path) -> dict[str, torch.Tensor]:
    paths = sorted(folder.glob(CHECKPOINTS))
    if len(paths) != 1:
        raise ModelError(f"{folder} holds {len(paths)} checkpoints ({CHECKPOINTS}), not one")
    try:
        stored = torch.load(paths[0], map_location="cpu", weights_only=True, mmap=True)
        return dict(stored["state_dict"])
    except Exception as error:  # what torch raises of a file that is no checkpoint is not one kind
        raise ModelError(f"cannot read {paths[0]}: {first_line(error)}") from error


def load_config(folder: Path) -> Any:
    """The transformers config of ``folder``. Raises `ModelError` where it is missing, or it is of a
    model that needs code of its own."""
    try:
        with _quiet():
            return AutoConfig.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{folder}: cannot read its config: {first_line(error)}") from error


def load_tokenizer(folder: Path, named: str = "") -> Any:
    """The fast tokenizer of ``folder``; a sentencepiece model is converted.

    Where the folder has none, the one that the published weights ``named`` take from elsewhere.
    Raises `ModelError` where it is missing, or sentencepiece is not installed."""
    if not any((folder / name).exists() for name in (*TOKENIZERS, *SENTENCEPIECES)):
        head = head_of(named)
        if head is None or head.tokenizer is None:
            raise ModelError(f"{folder} holds no tokenizer; copy the one that it was taught with")
        return load_tokenizer(from_hub(head.tokenizer, VOCABULARIES))
    if not any((folder / name).exists() for name in TOKENIZERS) and not find_spec("sentencepiece"):
        raise ModelError(
            f"{folder} has a sentencepiece vocabulary: pip install 'safepassage[sentencepiece]'"
        )
    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ModelError(f"{folder}: cannot load its tokenizer: {first_line(error)}") from error
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(f"{folder}: its tokenizer has no fast form, which alone is read here")
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


def _load(folder: Path, kind: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    safe = any(folder.glob("*.safetensors"))
    if not safe and not any(folder.glob(PICKLES)):
        raise ModelError(f"{folder} holds no weights: neither *.safetensors nor {PICKLES}")
    try:
        with _quiet():
            model, report = kind.from_pretrained(
                folder,
                **options,
                use_safetensors=safe,
                weights_only=True,
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
            )
    except Exception as error:
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
