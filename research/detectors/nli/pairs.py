"""p(a label | source, sentence) of pairs, by any model: hub cross-encoders or the reader."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas import CLAIM_TYPE, hypothesis
from safepassage.scoring_worker.detectors.contract import DetectorSettings
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.devices import place, use_threads
from safepassage.scoring_worker.encoders.encoder import Encoder
from safepassage.scoring_worker.encoders.published import PublishedHead, head_of
from safepassage.scoring_worker.encoders.published_encoder import head_in, open_encoder
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.encoders.weight_folders import base_digest, named_folder
from safepassage.scoring_worker.encoders.weights import load_config
from safepassage.scoring_worker.manifest import MANIFEST_NAME, ModelError, ScorerManifest

DECIMALS = 6

Floats = NDArray[np.float64]


class PairProbabilities(Protocol):
    """A model of pairs. ``revision`` changes with anything that can change a probability."""

    @property
    def revision(self) -> str: ...

    def probabilities(self, sources: Sequence[str], sentences: Sequence[str]) -> Floats:
        """[pairs] in [0, 1]; NaN where a pair could not be scored."""
        ...


class CrossEncoderPairs:
    """A sequence classifier."""

    def __init__(self, encoder: Encoder, revision: str) -> None:
        self.revision = revision
        self._encoder = encoder

    def probabilities(self, sources: Sequence[str], sentences: Sequence[str]) -> Floats:
        """[pairs]; a source too long for the model is read in windows, the best of which counts."""
        return self._encoder.probabilities(sources, sentences)


class ReaderPairs:
    """The claim logit of a reader: p(the source entails the sentence)."""

    def __init__(self, reader: Reader, revision: str, *, inverted: bool = False) -> None:
        self.revision = f"{revision}-{'not-entailed' if inverted else 'entailed'}"
        self._reader = reader
        self._inverted = inverted

    def probabilities(self, sources: Sequence[str], sentences: Sequence[str]) -> Floats:
        """[pairs]; with ``inverted``, p(not entailed), for methods that ask for contradiction."""
        pairs = zip(sources, sentences, strict=True)
        read = self._reader.read([Task(hypothesis(CLAIM_TYPE, said), text) for text, said in pairs])
        claims = [np.nan if isinstance(one, PairFailure) else one.claim for one in read]
        logits = np.array(claims, dtype=np.float64)
        entailed = 1.0 / (1.0 + np.exp(-np.clip(logits, -60, 60)))
        return np.round(1.0 - entailed if self._inverted else entailed, DECIMALS)


def cross_encoder(
    named: str, settings: DetectorSettings, head: PublishedHead, *, contradicts: bool = False
) -> CrossEncoderPairs:
    """The sequence classifier in a folder or under a hub id (``owner/name@revision``).

    Args:
        head: how it is read, unless `encoders.published` knows the hub id.
        contradicts: the logit that says "contradiction" counts; a folder may name it in its config.

    Raises:
        ModelError: it is not there, is no such model, or has no such label.
    """
    use_threads(settings.threads)
    folder = named_folder(named)
    config = load_config(folder)
    known = head_of(named)
    head = known or head
    label: int | None = head.label
    if contradicts:
        label = head.contradiction if known else _named(config, "contradiction", head.contradiction)
    if label is None or not 0 <= label < config.num_labels:
        raise ModelError(f"{folder}: no logit {label} in a model of {config.num_labels}")
    encoder = open_encoder(
        folder,
        head_in(folder, replace(head, label=label)),
        place(settings.device, settings.precision),
        named=named,
    )
    order = "-sentence-first" if head.sentence_first else ""
    return CrossEncoderPairs(encoder, f"{base_digest(folder)[:16]}-{label}{order}")


def reader_pairs(named: str, settings: DetectorSettings, *, inverted: bool = False) -> ReaderPairs:
    """The reader of a scorer's folder, by default the one that ships.

    Raises:
        ModelError: there is no such folder, or its scorer has no reader.
    """
    from safepassage.scoring_worker.scorers.folders import open_manifest, open_reader  # noqa: PLC0415 (torch: seconds)

    use_threads(settings.threads)
    folder, manifest = open_manifest(named)
    if manifest.kind == "encoder":
        raise ModelError(f"{named} is a cross-encoder and no reader")
    reader = open_reader(manifest, folder, device=settings.device, precision=settings.precision)
    return ReaderPairs(reader, manifest.revision, inverted=inverted)


def is_reader(named: str) -> bool:
    """Whether this names a scorer with a reader: "default", or a folder that says so."""
    folder = Path(named)
    if named == "default":
        return True
    return (folder / MANIFEST_NAME).is_file() and ScorerManifest.load(folder).kind == "reader"


def _named(config: Any, label: str, otherwise: int | None) -> int | None:
    """The position of the one logit that the config calls ``label``, without case."""
    names = config.id2label or {}
    found = [int(at) for at, name in names.items() if str(name).casefold() == label]
    return found[0] if len(found) == 1 else otherwise
