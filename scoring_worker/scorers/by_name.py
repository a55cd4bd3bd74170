"""Scorers by name, without the detectors that may draw beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from safepassage.scoring_worker.encoders.devices import (
    DeviceChoice,
    PrecisionChoice,
    place,
    use_threads,
)
from safepassage.scoring_worker.encoders.published import HEM, NLI
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.packs.registry import packs_named, packs_of_environment
from safepassage.scoring_worker.scorer import Scorer

from .by_language import NotLoaded, beside_shipped, default_readers
from .folders import LLMS, load_folder, open_manifest
from .words import WordMatching

if TYPE_CHECKING:
    from safepassage.llm_calls.settings import GraderSettings

_BASELINES: Final = {"nli": NLI, "hhem": HEM}
_HALLUGUARD: Final = "halluguard"


def load_named(
    name: str,
    *,
    device: DeviceChoice = "auto",
    precision: PrecisionChoice = "auto",
    threads: int | None = None,
    grader: GraderSettings | None = None,
    packs: Sequence[str] | None = None,
) -> Scorer:
    """The scorer of that name, in that folder, or under that hub id; see `load_scorer`. Raises
    `ModelError` where there is no such scorer, or it is incomplete, altered or unsafe to load;
    `UnknownPack` where there is no pack of that name."""
    # First of all: a misspelt pack must not wait for a scorer that has use for it.
    active = packs_of_environment() if packs is None else packs_named(packs)
    use_threads(threads)
    models = _Models(device, precision, active)
    named: Mapping[str, Callable[[], Scorer]] = {
        "default": models.default,
        "words": WordMatching,
        **dict.fromkeys(LLMS, partial(_grader, grader, name)),
        "cascade": lambda: _cascade(name, models.default(), _grader(grader)),
        "cascade-large": lambda: _cascade(name, models.of("small"), models.of("large")),
    }
    if name.startswith(f"{_HALLUGUARD}=") and not Path(name).is_dir():
        return _grader(grader, name)
    return named[name]() if name in named else models.of(name)


@dataclass(frozen=True, slots=True)
class _Models:
    """Loads model folders onto one device, with the same packs."""

    device: DeviceChoice
    precision: PrecisionChoice
    packs: Sequence[Pack]

    def of(self, name: str) -> Scorer:
        folder, manifest = open_manifest(_BASELINES.get(name, name))
        if name in _BASELINES:
            manifest = manifest.model_copy(update={"name": name, "learnt_from": LearntFrom()})
        elif name == "small":
            manifest = manifest.model_copy(update={"name": name})
        scorer = load_folder(
            folder, manifest, device=self.device, precision=self.precision, packs=self.packs
        )
        if manifest.kind == "cascade":
            return _asked_in_order(manifest, self.default(), scorer)
        return beside_shipped(scorer, manifest, self.of)

    def default(self) -> Scorer:
        return default_readers(self.of, self._small)

    def _small(self) -> NotLoaded:
        """The small reader, whose weights and vocabulary (350 MB) wait for a pair in another
        language. Its files are verified now, and again when they are read."""
        from .default import revision_of  # noqa: PLC0415 (its libraries are its own)

        _, manifest = open_manifest("small")
        placement = place(self.device, self.precision, on_cpu=manifest.precision)
        revision = revision_of(manifest.model_copy(update={"name": "small"}), placement, self.packs)
        return NotLoaded("small", revision, manifest.learnt_from, partial(self.of, "small"))


def _grader(settings: GraderSettings | None, name: str = "llm") -> Scorer:
    from safepassage.llm_calls.settings import GraderSettings  # noqa: PLC0415 (only this scorer's)

    from .llm import LLMGrader  # noqa: PLC0415 (openai is slow to import)
    from .llm_forms import FORMS, halluguard  # noqa: PLC0415

    row, _, instructions = name.partition("=")
    form = halluguard(Path(instructions)) if instructions else FORMS[row]
    return LLMGrader(settings or GraderSettings(), row, form)


def _asked_in_order(manifest: ScorerManifest, first: Scorer, second: Scorer) -> Scorer:
    from .cascade import BAND, CascadeScorer, doubt_of  # noqa: PLC0415 (brings the grader)

    band = manifest.band or BAND
    return CascadeScorer(first, second, band=band, name=manifest.name, doubt=doubt_of)


def _cascade(name: str, first: Scorer, second: Scorer) -> Scorer:
    from .cascade import CascadeScorer  # noqa: PLC0415 (brings the grader)

    return CascadeScorer(first, second, name=name)
