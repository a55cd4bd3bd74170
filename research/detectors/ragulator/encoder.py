"""RAGulator's cross-encoder as a detector (sections 2.3, 2.5 and 3.3)."""

from pathlib import Path
from typing import Final

from research.detectors.nli.detectors import ModelUse, NLIDetector
from research.detectors.nli.pairs import cross_encoder
from research.detectors.scorer_detector import ScorerDetector
from safepassage.scoring_worker.detectors.contract import DetectorSettings
from safepassage.scoring_worker.detectors.grounding import named_scorer
from safepassage.scoring_worker.encoders.published import HEADS, RAGULATOR
from safepassage.scoring_worker.encoders.weights import load_config
from safepassage.scoring_worker.manifest import MANIFEST_NAME, ModelError
from safepassage.scoring_worker.scorers.cross_encoders import EncoderScorer

_PUBLISHED_ROOM: Final = 1_536
"""Characters of a window of the published weights, which were taught 490 tokens of context."""


def load_encoder_detector(settings: DetectorSettings) -> ScorerDetector | NLIDetector:
    """The cross-encoder in the folder, or under the hub id, ``settings.model``.

    A folder with two logits that are not named is read as the authors' own weights are.

    Raises:
        ModelError: no model is named, or it is no cross-encoder.
    """
    named = settings.model
    if named is None:
        raise ModelError(
            "ragulator-encoder needs a model: a folder that `python -m research ragulator train "
            f"--model encoder` wrote, or {RAGULATOR}@COMMIT"
        )
    if named.partition("@")[0] == RAGULATOR or _is_published(Path(named)):
        pairs = cross_encoder(named, settings, HEADS[RAGULATOR])
        return NLIDetector("ragulator-encoder", pairs, ModelUse("windows", room=_PUBLISHED_ROOM))
    scorer = named_scorer(settings, f"one-logit={named}" if _is_own(Path(named)) else named)
    if not isinstance(scorer, EncoderScorer):
        raise ModelError(f"{named} is no cross-encoder")
    # Three of four of what the model reads, at four characters a token; what is longer all the
    # same is cut by the encoder, not lost.
    room = scorer.encoder.max_length * 3
    return ScorerDetector("ragulator-encoder", scorer, room=room)


def _is_own(folder: Path) -> bool:
    """Whether it is a folder of one logit, as training writes it: the source comes first."""
    return (folder / "config.json").is_file() and load_config(folder).num_labels == 1


def _is_published(folder: Path) -> bool:
    if not (folder / "config.json").is_file() or (folder / MANIFEST_NAME).exists():
        return False
    names = load_config(folder).id2label or {}
    return sorted(map(str, names.values())) == ["LABEL_0", "LABEL_1"]
