"""Published scorers to compare with: a DeBERTaV3 NLI model, and HHEM 2.1 (open).

HHEM comes with Python code of its own on the hub. That code is never run here: its model is
T5's token classifier over one prompt with both texts, read at the first token ("<pad>", in
the place of BERT's "[CLS]"), and transformers has that model.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from safepassage.scoring_worker.encoders.devices import Placement
from safepassage.scoring_worker.encoders.encoder import Encoder
from safepassage.scoring_worker.encoders.heads import FirstTokenForward
from safepassage.scoring_worker.encoders.prompt_pieces import Prompt, PromptPieces
from safepassage.scoring_worker.encoders.published import HEM
from safepassage.scoring_worker.encoders.weight_folders import base_digest, base_folder
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest

from .encoder import EncoderScorer

NLI_HUB_ID = "cross-encoder/nli-deberta-v3-base"
HHEM_HUB_ID = HEM
HHEM_FOUNDATION = "google/flan-t5-base"
"""Config and tokenizer of HHEM, unless its config.json names others under "foundation"."""

HHEM_PROMPT = (
    "<pad> Determine if the hypothesis is true given the premise?\n\n"
    "Premise: {text1}\n\nHypothesis: {text2}"
)
"""The input format that HHEM 2.1 was trained on, unless its config.json has one as "prompt"."""
HHEM_MAX_TOKENS = 4_096
"""T5 knows relative positions only and has no limit of its own; memory does."""

_CONSISTENT = 1
_WEIGHTS_PREFIX = "t5."


def load_hhem(placement: Placement, folder: Path | None = None) -> EncoderScorer:
    """HHEM 2.1 from ``folder``, or from the hub.

    ``folder`` holds its config.json and model.safetensors; the foundation's config and
    tokenizer are there too, in a folder "foundation", or come from the hub.

    Raises:
        ModelError: something is missing or does not fit.
    """
    as_published = folder is None
    folder = folder or base_folder(HHEM_HUB_ID, None)
    own = _json(folder / "config.json")
    local = folder / "foundation"
    name = str(own.get("foundation", HHEM_FOUNDATION))
    foundation = local if local.is_dir() else base_folder(name, folder)
    from safepassage.scoring_worker.encoders.weights import load_tokenizer  # noqa: PLC0415 (transformers)

    tokenizer = load_tokenizer(foundation)
    model = _load_t5(folder, foundation, placement)
    manifest = ScorerManifest(
        name="hhem",
        kind="encoder",
        base_digest=base_digest(folder),
        labels=_CONSISTENT,
        max_length=HHEM_MAX_TOKENS,
        learnt_from=LearntFrom() if as_published else None,
    )
    encoder = Encoder(
        model,
        tokenizer,
        entailment=_CONSISTENT,
        max_length=HHEM_MAX_TOKENS,
        placement=placement,
        forward=FirstTokenForward(model, tokenizer.pad_token_id),
        pieces=PromptPieces(
            tokenizer, Prompt(str(own.get("prompt", HHEM_PROMPT))), HHEM_MAX_TOKENS
        ),
    )
    return EncoderScorer(manifest, encoder)


def is_hhem(folder: Path) -> bool:
    """Whether ``folder`` says of itself that it is HHEM 2."""
    if not (folder / "config.json").is_file():
        return False
    return str(_json(folder / "config.json").get("model_type", "")).startswith("HHEMv2")


def _load_t5(folder: Path, foundation: Path, placement: Placement) -> Any:
    from transformers import T5ForTokenClassification  # noqa: PLC0415 (only HHEM needs T5)

    from safepassage.scoring_worker.encoders.weights import load_config  # noqa: PLC0415 (transformers)

    config = load_config(foundation)
    if config.model_type != "t5":
        raise ModelError(f"{foundation} is no T5 model")
    config.num_labels = 2
    model = T5ForTokenClassification(config)
    weights = {
        name.removeprefix(_WEIGHTS_PREFIX): tensor for name, tensor in _tensors(folder).items()
    }
    try:
        missing, unexpected = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise ModelError(f"{folder}: its weights are not of the size of {foundation}") from error
    # The embedding is stored once and used under two names.
    absent = [name for name in missing if not name.endswith("embed_tokens.weight")]
    embedded = {"transformer.shared.weight", "transformer.encoder.embed_tokens.weight"}
    if absent or unexpected or not embedded & weights.keys():
        raise ModelError(f"{folder} does not hold the weights of HHEM 2.1")
    model.tie_weights()
    placed: Any = model.to(device=placement.device, dtype=placement.dtype)  # type: ignore[call-arg]
    return placed.eval()


def _tensors(folder: Path) -> dict[str, torch.Tensor]:
    path = folder / "model.safetensors"
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"cannot read {path} as safetensors") from error


def _json(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read {path}: {error}") from error
    if not isinstance(loaded, dict):
        raise ModelError(f"{path} is not a JSON object")
    return loaded
