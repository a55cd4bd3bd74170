"""The scorers of figure 4: what a number of gold labels makes of each start."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from tokenizers import Tokenizer

from safepassage.scoring_worker.encoders.devices import place
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.encoders.reader_model import ReaderModel
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.splits import split_by_group
from safepassage.scoring_worker.manifest import (
    MANIFEST_NAME,
    ModelError,
    ScorerManifest,
    Thresholds,
)
from safepassage.scoring_worker.scorer import Scorer
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.scorers.folders import open_reader
from safepassage.scoring_worker.training.judged_pairs import Judged, refitted
from safepassage.scoring_worker.training.stacking import LabelledOpinion, fit_stack
from safepassage.scoring_worker.training.starting_point import (
    starting_point,
    training_tokenizer,
)
from safepassage.scoring_worker.training.tuning import TuningSettings, tune
from safepassage.scoring_worker.weighing.opinion import READ_FEATURES
from safepassage.scoring_worker.weighing.stack import Stack

SIZES = (0, 100, 200, 300, 400, 500)
MIN_APART = 100
"""Labels from which on some are kept from the reader for the stack."""
NO_BASE = "no start without silver: name the folder of a base that nothing was taught"


@dataclass(frozen=True, slots=True)
class CurveSettings:
    """How the curve is made. ``silver`` is a scorer trained on silver labels; ``base`` the folder
    of what its reader was trained from, or a scorer; None leaves out the points without silver.

    ``head_only`` refits the head of ``silver``, in seconds. Otherwise readers are fine-tuned:
    ``alone`` from the base, without rehearsal, and ``after`` from the silver scorer;
    ``stack_share`` of the labels fits the stack and not the reader, where there are enough.
    ``learning_rate`` and ``layers`` are of cross-encoders alone; None is their own, and all.
    """

    silver: str = "default"
    base: str | None = None
    head_only: bool = False
    sizes: tuple[int, ...] = SIZES
    folds: int = 5
    stack_share: float = 0.25
    alone: TuningSettings = field(
        default_factory=lambda: TuningSettings(
            epochs=6, learning_rate=2e-4, rehearsal=0, rehearsal_least=0
        )
    )
    after: TuningSettings = field(default_factory=lambda: TuningSettings(epochs=6))
    learning_rate: float | None = None
    layers: int | None = None
    seed: int = 0


class NothingLearned(Exception):
    """A start that cannot judge without training, asked to."""


class MakeScorer(Protocol):
    """Makes the scorer that ``labels`` give, from a ``silver`` start or not."""

    @property
    def base(self) -> str:
        """What the start without silver is."""

    def __call__(self, silver: bool, labels: Sequence[LabelledPair], folder: Path) -> Scorer:
        """The scorer; its files, where it needs any, go to ``folder``.

        Raises:
            NothingLearned: this start needs labels.
        """


class FineTuned:
    """The whole scorer, its reader fine-tuned, with the stack that the same labels give.

    Raises:
        ModelError: a start cannot be loaded.
    """

    def __init__(self, settings: CurveSettings) -> None:
        self._settings = settings
        self._silver = starting_point(settings.silver)
        self._words = _words(settings)
        self.base = settings.base or "none"

    def __call__(self, silver: bool, labels: Sequence[LabelledPair], folder: Path) -> Scorer:
        """The silver scorer as it is, or a start fine-tuned on ``labels``."""
        if not silver and self._words is None:
            raise NothingLearned(NO_BASE)
        if not labels:
            return self._untrained(silver)
        read, weighed = self._apart(labels)
        start = self._silver if silver else None
        words = self._silver.words if silver else self._words
        assert words is not None  # noqa: S101 (for the type checker; refused above)
        model = start.model() if start else _bare(words)
        settings = self._settings.after if silver else self._settings.alone
        seeded = replace(settings, seed=self._settings.seed)
        tune(model, training_tokenizer(words), read, folder, seeded)
        scorer = _scorer(_plain(self._silver.manifest), model, words)
        opinions = list(Judged.by(scorer, weighed).labelled("gold"))
        stack = refitted(start.stack, opinions) if start else _fitted(opinions)
        return _weighed(scorer, stack)

    def _untrained(self, silver: bool) -> Scorer:
        if not silver:
            raise NothingLearned("its base was never taught to read")
        manifest = _plain(self._silver.manifest)
        return DefaultScorer(manifest, open_reader(manifest, self._silver.folder))

    def _apart(
        self, labels: Sequence[LabelledPair]
    ) -> tuple[Sequence[LabelledPair], Sequence[LabelledPair]]:
        """What the reader learns from, and what the stack does."""
        if len(labels) < MIN_APART:
            return labels, labels
        return split_by_group(labels, self._settings.stack_share, self._settings.seed + 1)


class RefitHead:
    """The whole scorer, of which labels refit the head: `train --head-only`. Without silver the
    head is fitted on the gold labels and the comparators alone.

    Raises:
        ModelError: the silver scorer cannot be loaded, or has no head.
    """

    base = "the comparators without a reader"

    def __init__(self, settings: CurveSettings, pairs: Sequence[LabelledPair]) -> None:
        start = starting_point(settings.silver)
        self._manifest = _plain(start.manifest)
        self._start = start.stack
        self._reader = open_reader(self._manifest, start.folder)
        judged = Judged.by(DefaultScorer(self._manifest, self._reader), pairs)
        self._opinions = {
            id(pair): list(Judged([pair], [opinions]).labelled("gold"))
            for pair, opinions in zip(judged.pairs, judged.opinions, strict=True)
        }
        self._pairs = pairs  # keeps the ids theirs

    def __call__(self, silver: bool, labels: Sequence[LabelledPair], folder: Path) -> Scorer:
        """The head as it starts, or refitted on ``labels``; nothing is written."""
        opinions = [one for pair in labels for one in self._opinions.get(id(pair), [])]
        if labels:
            stack = refitted(self._start, opinions) if silver else _fitted(_unread(opinions))
        elif silver:
            stack = self._start
        else:
            raise NothingLearned("nothing says how much each comparison counts")
        update = {"stack": stack.model_dump(mode="json")}
        return DefaultScorer(self._manifest.model_copy(update=update), self._reader)


def _fitted(opinions: Sequence[LabelledOpinion]) -> Stack:
    try:
        return fit_stack(opinions)
    except ValueError as error:
        raise NothingLearned(str(error)) from error


def _unread(opinions: Sequence[LabelledOpinion]) -> list[LabelledOpinion]:
    """``opinions`` without what the reader says in them."""
    return [
        replace(
            one,
            opinion=replace(
                one.opinion,
                features={
                    name: value
                    for name, value in one.opinion.features.items()
                    if name not in READ_FEATURES
                },
            ),
        )
        for one in opinions
    ]


def _words(settings: CurveSettings) -> Path | None:
    """The folder of the start without silver, if there is one."""
    if settings.base is None:
        return None
    folder = Path(settings.base)
    if (folder / MANIFEST_NAME).exists():
        return folder
    if not (folder / "config.json").exists():
        raise ModelError(f"{folder} is no folder of a base or of a scorer")
    return folder


def _bare(words: Path) -> ReaderModel:
    """The reader without silver: that of a scorer, or a base whose heads know nothing yet."""
    if (words / MANIFEST_NAME).exists():
        return starting_point(words).model()
    return ReaderModel.of(words)


def _scorer(manifest: ScorerManifest, model: ReaderModel, words: Path) -> DefaultScorer:
    placement = place("auto", "auto", on_cpu=manifest.precision)
    tokenizer = Tokenizer.from_file(str(words / "tokenizer.json"))
    placed = model.to(placement.device).to(placement.dtype).eval()
    reader = Reader(placed, tokenizer, max_length=manifest.max_length, placement=placement)
    return DefaultScorer(manifest, reader)


def _weighed(scorer: DefaultScorer, stack: Stack) -> DefaultScorer:
    update = {"stack": stack.model_dump(mode="json")}
    return DefaultScorer(scorer.manifest.model_copy(update=update), scorer.reader)


def _plain(manifest: ScorerManifest) -> ScorerManifest:
    """At .5: without calibration and fitted thresholds."""
    return manifest.model_copy(update={"calibration": None, "thresholds": Thresholds()})
