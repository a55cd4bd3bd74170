"""Figure 4 of cross-encoders: a start taught NLI alone, and one taught silver labels as well.

Points at no labels are the paper's NLI base and NLI_synth, those at the most labels its NLI_human
and NLI_synth>human: Table 1's trained rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.manifest import MANIFEST_NAME
from safepassage.scoring_worker.scorer import Scorer
from safepassage.scoring_worker.training.cross_encoder import (
    EncoderRecipe,
    stage,
    train_cross_encoder,
)
from safepassage.scoring_worker.training.fine_tuning import FineTuning
from safepassage.scoring_worker.training.recipe import TrainingLabels
from safepassage.scoring_worker.training.starting_point import encoder_base

from .curve_scorers import NO_BASE, CurveSettings, NothingLearned


@dataclass(frozen=True, slots=True)
class FineTunedEncoders:
    """Cross-encoders in folders: ``silver`` was taught silver labels, ``without`` was not.

    Each judges at the threshold that its training fitted.
    """

    silver: Path
    without: Path | None
    base: str
    stage: FineTuning
    seed: int

    def __call__(self, silver: bool, labels: Sequence[LabelledPair], folder: Path) -> Scorer:
        """The start as it is, or fine-tuned on ``labels`` into ``folder``."""
        start = self.silver if silver else self.without
        if start is None:
            raise NothingLearned(NO_BASE)
        if labels:
            recipe = EncoderRecipe(gold=self.stage, seed=self.seed)
            train_cross_encoder((start, start.name), TrainingLabels(gold=labels), folder, recipe)
            return load_scorer(folder)
        if not (start / MANIFEST_NAME).exists():
            raise NothingLearned("this encoder was taught neither NLI nor labels")
        return load_scorer(start)


def fine_tuned_encoders(settings: CurveSettings) -> FineTunedEncoders | None:
    """The starts of ``settings`` where its silver one is a cross-encoder; None where it has a
    reader.

    Raises:
        ModelError: a start is not there.
    """
    silver = encoder_base(settings.silver)
    if silver is None:
        return None
    epochs = max(1, round(settings.alone.epochs))
    taught = stage(epochs, settings.learning_rate) if settings.learning_rate else stage(epochs)
    return FineTunedEncoders(
        silver=silver,
        without=encoder_base(settings.base) if settings.base else None,
        base=settings.base or "none",
        stage=replace(taught, layers=settings.layers, seed=settings.seed),
        seed=settings.seed,
    )
