"""A cross-encoder alone as a `Scorer`, from a folder as transformers writes it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from safepassage.schemas import Assessment
from safepassage.scoring_worker.calibration import apply
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.devices import DeviceChoice, PrecisionChoice, place
from safepassage.scoring_worker.encoders.encoder import Encoder
from safepassage.scoring_worker.encoders.published import (
    ROWS,
    PublishedHead,
    label_named_yes,
    row_of,
)
from safepassage.scoring_worker.encoders.published_encoder import (
    head_in,
    longest_tokens,
    open_encoder,
    words_of,
)
from safepassage.scoring_worker.encoders.weight_folders import base_digest, base_folder
from safepassage.scoring_worker.encoders.weights import (
    head_kind,
    is_hhem,
    load_config,
    load_tokenizer,
)
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest
from safepassage.scoring_worker.risk.groups import below, threshold_of
from safepassage.scoring_worker.scorer import Pair


class EncoderScorer:
    """Scores with ``encoder``; calibration and thresholds come from ``manifest``."""

    def __init__(self, manifest: ScorerManifest, encoder: Encoder) -> None:
        self.manifest = manifest
        self.encoder = encoder
        self.name = manifest.name
        self.learnt_from = manifest.learnt_from
        self.revision = encoder.revision_of(manifest)
        self._by = self.name, self.revision

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; a pair that cannot be scored gets a failure."""
        scores = self.encoder.score(
            [pair.premise for pair in pairs], [pair.hypothesis for pair in pairs]
        )
        calibrated = apply(self.manifest.calibration, scores.probabilities)
        return [
            self._failed(scores.failures[at])
            if at in scores.failures or not np.isfinite(calibrated[at])
            else self._scored(pair, float(calibrated[at]))
            for at, pair in enumerate(pairs)
        ]

    def close(self) -> None:
        """Nothing is held open."""

    def _scored(self, pair: Pair, score: float) -> Assessment:
        threshold = threshold_of(self.manifest.thresholds, pair)
        return Assessment.scored(self._by, below(score, threshold), threshold)

    def _failed(self, failure: PairFailure) -> Assessment:
        return Assessment.failed(self._by, failure.reason, failure.detail)


def manifest_of(folder: Path, name: str, head: PublishedHead | None = None) -> ScorerManifest:
    """The manifest of a ``folder`` without one: threshold .5, and the label whose name says yes, or
    what ``head`` says of published weights. Raises `ModelError` where it is no classifier, or no
    label says yes."""
    head = ROWS["hhem"] if is_hhem(folder) else head
    words = words_of(folder, head)
    config = load_config(words)
    if head is None and head_kind(config, folder) is None:
        raise ModelError(
            f"{folder}: its config names no architecture, so nothing tells what its head classifies"
        )
    read = head_in(folder, head or PublishedHead(yes_label(config, folder)))
    return ScorerManifest(
        name=name,
        kind="encoder",
        base_digest=base_digest(folder),
        labels=read.label,
        hypothesis_first=read.sentence_first,
        layout=row_of(head) if head else None,
        max_length=longest_tokens(read, config, load_tokenizer(words, name)),
    )


def load_encoder(
    manifest: ScorerManifest,
    folder: Path,
    *,
    device: DeviceChoice = "auto",
    precision: PrecisionChoice = "auto",
) -> Encoder:
    """The cross-encoder of a verified model directory. Raises `ModelError` where the base is
    missing, altered, or not what the manifest says."""
    base = folder if manifest.base is None else base_folder(manifest.base, folder)
    if manifest.base_digest is not None and base_digest(base) != manifest.base_digest:
        raise ModelError(
            f"{manifest.name}: the weights of its base {manifest.base!r} are not those it was "
            "trained on; install the pinned version"
        )
    head = PublishedHead(manifest.labels, sentence_first=manifest.hypothesis_first)
    if manifest.layout is not None:
        if manifest.layout not in ROWS:
            raise ModelError(f"{manifest.name}: no layout {manifest.layout!r} in this version")
        head = ROWS[manifest.layout]
    own = folder if (folder / "tokenizer.json").exists() else None
    return open_encoder(
        base,
        head_in(base, head),
        place(device, precision, on_cpu=manifest.precision),
        named=manifest.base or manifest.name,
        words=own,
        max_length=manifest.max_length,
    )


def yes_label(config: Any, folder: Path) -> int:
    """The position of the logit that says yes, from the labels in the model's config. Raises
    `ModelError`: none, or more than one, says yes; or there is one logit, of which nothing tells
    which text it was taught to read first."""
    if config.num_labels == 1:
        raise ModelError(
            f"{folder} has one logit, and nothing says which text comes first: load it as "
            f"reranker={folder} (statement first) or one-logit={folder} (source first)"
        )
    if (label := label_named_yes(config)) is None:
        named = sorted(str(name) for name in config.id2label.values())
        raise ModelError(
            f"{folder}: cannot tell which of the labels {named} means entailment; name it in "
            f"id2label of config.json, or load it as label-0={folder} or label-1={folder}"
        )
    return label
