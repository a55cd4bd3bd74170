"""HEM v1 and v2, FactKB, GC and ContextNLI (paper, sections 5.2 to 5.4): one loop, five models.

A sentence is as grounded as by the source that says most for it, an answer as its least grounded
sentence. The methods differ in model, in the output that counts, and in what a source is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

import numpy as np

from research.detectors.scorer_detector import WINDOW_CHARACTERS
from research.detectors.sentences import context_sentences
from research.windows import windows
from safepassage.passages.granularity import claims, over_windows
from safepassage.schemas import stable_id
from safepassage.scoring_worker.detectors.contract import (
    Answer,
    ClaimGrounding,
    DetectorSettings,
    Grounding,
)
from safepassage.scoring_worker.detectors.grounding import grounding_of
from safepassage.scoring_worker.encoders.published import (
    CONTEXT_NLI,
    FACT_KB,
    HEM,
    HEM_V1,
    ROWS,
    PublishedHead,
    head_of,
)
from safepassage.scoring_worker.manifest import ModelError

from .pairs import PairProbabilities, cross_encoder, is_reader, reader_pairs

MAX_PAIRS = 20_000
"""Pairs of one answer; more would take many minutes."""

Sources = Literal["sentences", "windows"]


@dataclass(frozen=True, slots=True)
class ModelUse:
    """How a method reads its model. ``contradiction``: the probability speaks against; ``room`` is
    that of a window, in characters."""

    sources: Sources
    contradiction: bool = False
    room: int = WINDOW_CHARACTERS


class NLIDetector:
    """Judges by ``pairs``. Thread-safe as far as its model is."""

    def __init__(self, name: str, pairs: PairProbabilities, reading: ModelUse) -> None:
        self.name = name
        self.revision = stable_id("nli", name, pairs.revision, repr(reading))[:16]
        self._pairs = pairs
        self._reading = reading

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order; all pairs of all answers are scored together."""
        asked = [self._asked(answer) for answer in answers]
        together = [pair for one in asked if isinstance(one, _Asked) for pair in one.pairs]
        sources, sentences = [source for source, _ in together], [said for _, said in together]
        found = self._pairs.probabilities(sources, sentences)
        support = iter(1.0 - found if self._reading.contradiction else found)
        return [
            one if isinstance(one, Grounding) else one.grounding(islice(support, len(one.pairs)))
            for one in asked
        ]

    def close(self) -> None:
        """Nothing is held open."""

    def _asked(self, answer: Answer) -> _Asked | Grounding:
        if self._reading.sources == "sentences":
            sources = context_sentences(answer)
        else:
            found = windows(answer.context, self._reading.room)
            sources = [answer.context[one.passage][one.start : one.end] for one in found]
        places = claims(answer.response)
        if not sources or not places:
            return Grounding.undetermined("no_context" if not sources else "no_claims")
        if len(sources) * len(places) > MAX_PAIRS:
            return Grounding.undetermined("context_too_long")
        sentences = [answer.response[start:end] for start, end in places]
        return _Asked(tuple(places), tuple((s, h) for h in sentences for s in sources))


@dataclass(frozen=True, slots=True)
class _Asked:
    """An answer's sentences, and their pairs with every source, sentence by sentence."""

    places: tuple[tuple[int, int], ...]
    pairs: tuple[tuple[str, str], ...]

    def grounding(self, support: Iterable[float]) -> Grounding:
        rows = np.array(list(support)).reshape(len(self.places), -1)
        judged = []
        for (start, end), row in zip(self.places, rows, strict=True):
            score = over_windows([None if np.isnan(value) else float(value) for value in row])
            failure = "pair_not_scored" if score is None else None
            judged.append(ClaimGrounding(start, end, score, failure))
        return grounding_of(tuple(judged))


_HUB_MODELS: Final = {
    "hem_v1": (HEM_V1, ModelUse("windows")),
    "fact_kb": (FACT_KB, ModelUse("sentences")),
    # Minimum p(contradiction) over context sentences, maximum over answer sentences.
    "context_nli": (CONTEXT_NLI, ModelUse("sentences", contradiction=True)),
}
_ON_THE_READER: Final = {
    "reader_sentences": ModelUse("sentences"),
    "reader_windows": ModelUse("windows"),
}


def load_hub_model(name: str, settings: DetectorSettings) -> NLIDetector:
    """The method ``name`` with its paper's model, or with ``settings.model``.

    Raises:
        ModelError: the weights are not there.
    """
    named, use = _HUB_MODELS[name]
    pairs = cross_encoder(
        settings.model or named,
        settings,
        head_of(named) or PublishedHead(0),
        contradicts=use.contradiction,
    )
    return NLIDetector(name, pairs, use)


def load_with_reader(name: str, settings: DetectorSettings) -> NLIDetector:
    """The reader that ships, or that of ``settings.model``, asked as a paper's method asks its own
    model. It knows entailed or not, and nothing of contradiction.

    Raises:
        ModelError: its files are missing or altered.
    """
    use = _ON_THE_READER[name]
    pairs = reader_pairs(settings.model or "default", settings)
    return NLIDetector(name, pairs, use)


def load_hem_v2(settings: DetectorSettings) -> NLIDetector:
    """HEM v2 (HHEM 2.1, open), asked of windows of the context.

    Raises:
        ModelError: its weights are not there.
    """
    from safepassage.scoring_worker.encoders.devices import place, use_threads  # noqa: PLC0415
    from safepassage.scoring_worker.encoders.published_encoder import open_encoder  # noqa: PLC0415
    from safepassage.scoring_worker.encoders.weight_folders import (  # noqa: PLC0415
        base_digest,
        named_folder,
    )

    from .pairs import CrossEncoderPairs  # noqa: PLC0415

    use_threads(settings.threads)
    folder = named_folder(settings.model or HEM)
    encoder = open_encoder(folder, ROWS["hhem"], place(settings.device, settings.precision))
    pairs = CrossEncoderPairs(encoder, base_digest(folder)[:16])
    return NLIDetector("hem_v2", pairs, ModelUse("windows"))


def load_gc(settings: DetectorSettings) -> NLIDetector:
    """The grounding classifier that `groundedness train` wrote, best source sentence.

    Raises:
        ModelError: no folder is named, or it holds no such model.
    """
    if settings.model is None:
        raise ModelError(
            "gc ships no weights: train them with `python -m research groundedness train`, and "
            "name their folder as its model"
        )
    pairs: PairProbabilities = (
        reader_pairs(settings.model, settings)
        if is_reader(settings.model)
        else cross_encoder(settings.model, settings, PublishedHead(0))
    )
    return NLIDetector("gc", pairs, ModelUse("sentences"))
