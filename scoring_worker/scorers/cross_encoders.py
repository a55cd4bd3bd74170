"""Folders of cross-encoders, as transformers writes them."""

from pathlib import Path
from typing import Any

from safepassage.scoring_worker.encoders.devices import DeviceChoice, PrecisionChoice, place
from safepassage.scoring_worker.encoders.encoder import Encoder
from safepassage.scoring_worker.encoders.published import PublishedHead
from safepassage.scoring_worker.encoders.weight_folders import base_digest, base_folder
from safepassage.scoring_worker.encoders.weights import (
    load_config,
    load_full,
    load_tokenizer,
    longest_input,
)
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest

ENTAILMENT_LABELS = frozenset({"entailment", "entail", "entailed", "supported", "supports"})
"""Names of the entailment logit, without case. "not_entailment" is not one of them."""


def manifest_of(folder: Path, name: str, head: PublishedHead | None = None) -> ScorerManifest:
    """The manifest of a ``folder`` without one: threshold .5, entailment by the label's name, or
    what ``head`` says of published weights.

    Raises:
        ModelError: it is no sequence classifier, or no label is called entailment.
    """
    config = load_config(folder)
    return ScorerManifest(
        name=name,
        kind="encoder",
        base_digest=base_digest(folder),
        labels=head.label if head else entailment_index(config, folder),
        hypothesis_first=head is not None and head.sentence_first,
        max_length=longest_input(config, load_tokenizer(folder, name)),
    )


def load_encoder(
    manifest: ScorerManifest,
    folder: Path,
    *,
    device: DeviceChoice = "auto",
    precision: PrecisionChoice = "auto",
) -> Encoder:
    """The cross-encoder of a verified model directory.

    Raises:
        ModelError: the base is missing, altered, or no sequence classifier.
    """
    placement = place(device, precision, on_cpu=manifest.precision)
    base = folder if manifest.base is None else base_folder(manifest.base, folder)
    if manifest.base_digest is not None and base_digest(base) != manifest.base_digest:
        raise ModelError(
            f"{manifest.name}: the weights of its base {manifest.base!r} are not those it was "
            "trained on; install the pinned version"
        )
    model = load_full(base, placement.dtype)
    if manifest.labels >= model.config.num_labels:
        raise ModelError(f"{manifest.name}: no logit {manifest.labels} in its model")
    own = (folder / "tokenizer.json").exists()
    tokenizer = load_tokenizer(folder if own else base, manifest.base or manifest.name)
    return Encoder(
        model.to(placement.device),
        tokenizer,
        entailment=manifest.labels,
        max_length=min(manifest.max_length, longest_input(model.config, tokenizer)),
        placement=placement,
        hypothesis_first=manifest.hypothesis_first,
    )


def entailment_index(config: Any, folder: Path) -> int:
    """The position of the entailment logit, from the labels in the model's config.

    Raises:
        ModelError: several logits and none, or more than one, is called entailment.
    """
    if config.num_labels == 1:
        return 0
    named = {int(at): str(label).casefold() for at, label in config.id2label.items()}
    found = [at for at, label in named.items() if label in ENTAILMENT_LABELS]
    if len(found) != 1:
        raise ModelError(
            f"{folder}: cannot tell which of the labels {sorted(named.values())} means "
            "entailment; name it in id2label of config.json"
        )
    return found[0]
