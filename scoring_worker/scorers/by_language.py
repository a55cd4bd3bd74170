"""One scorer for a language, another for all others: the large reader for English in `default`."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import structlog

from safepassage.schemas import Assessment, stable_id
from safepassage.scoring_worker.learnt_from import LearntFrom, both_learnt, said_by
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest
from safepassage.scoring_worker.memory.index import NO_MEMORY, Memory
from safepassage.scoring_worker.memory.learning import remember_in, traces_of
from safepassage.scoring_worker.memory.states import Trace
from safepassage.scoring_worker.scorer import Pair, Scorer
from safepassage.scoring_worker.scorers.installed_models import is_installed
from safepassage.scoring_worker.text.language import language_of

log = structlog.get_logger(__name__)

ROUTED = "en"
"""The language that `default` reads with the large reader, where it is installed."""


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """A scorer that ``load`` gives. ``revision`` and ``learnt_from`` are what its verified manifest
    says beforehand: what is loaded must have that revision."""

    name: str
    revision: str
    learnt_from: LearntFrom | None
    load: Callable[[], Scorer]


def default_readers(load: Callable[[str], Scorer], small: Callable[[], NotLoaded]) -> Scorer:
    """`default`: the large reader for English and ``small`` for other languages; the small one for
    all where the weights of the large one are not installed."""
    if not is_installed("large"):
        log.info("default_reads_small", mend="pip install 'safepassage[large]'")
        return load("default")
    return ByLanguage("default", ROUTED, load("large"), small())


def beside_shipped(
    scorer: Scorer, manifest: ScorerManifest, load: Callable[[str], Scorer]
) -> Scorer:
    """``scorer``, with the shipped reader that its manifest names for the other languages."""
    if manifest.others == "small":
        return ByLanguage(manifest.name, ROUTED, scorer, load("small"))
    if manifest.others == "large":
        return ByLanguage(manifest.name, ROUTED, load("large"), scorer)
    return scorer


class ByLanguage:
    """``own`` judges pairs in ``language`` (ISO 639-1), ``other`` judges the rest.

    A pair is judged by one of the two alone, with that one's threshold; its trail names the scorer
    that judged it. ``other`` may be loaded with the first pair that is for it. Closes both. Safe
    for several threads.
    """

    def __init__(self, name: str, language: str, own: Scorer, other: Scorer | NotLoaded) -> None:
        self.name = name
        self.revision = stable_id(name, language, own.revision, other.revision)[:16]
        self.learnt_from = both_learnt(said_by(own), said_by(other))
        self._language = language
        self._own = own
        self._other = other
        self._memory = NO_MEMORY
        self._lock = threading.Lock()

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order. Raises `ModelError` where the files of the scorer that
        loads now were altered since this was made."""
        answers: dict[int, Assessment] = {}
        for scorer, at in self._parts(pairs):
            answers |= zip(at, scorer.assess([pairs[number] for number in at]), strict=True)
        renamed = {"scorer": self.name, "revision": self.revision}
        return [answers[number].model_copy(update=renamed) for number in range(len(pairs))]

    def remember(self, memory: Memory) -> None:
        """Weigh what ``memory`` holds from the next batch on, each scorer its own part."""
        remember_in(memory, self._own)
        with self._lock:
            self._memory = memory
            if not isinstance(self._other, NotLoaded):
                remember_in(memory, self._other)

    def traces(self, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
        """What each pair would leave in a memory, by the scorer that judges it, in order."""
        found: dict[int, tuple[Trace, ...]] = {}
        for scorer, at in self._parts(pairs):
            found |= zip(at, traces_of(scorer, [pairs[number] for number in at]), strict=True)
        return [found[number] for number in range(len(pairs))]

    def close(self) -> None:
        """Close both scorers, as far as they are loaded."""
        self._own.close()
        with self._lock:
            if not isinstance(self._other, NotLoaded):
                self._other.close()

    def _parts(self, pairs: Sequence[Pair]) -> list[tuple[Scorer, list[int]]]:
        mine = [is_in(pair, self._language) for pair in pairs]
        own = [at for at, is_mine in enumerate(mine) if is_mine]
        other = [at for at, is_mine in enumerate(mine) if not is_mine]
        found = [(self._own, own)] if own else []
        return [*found, (self._loaded(), other)] if other else found

    def _loaded(self) -> Scorer:
        with self._lock:
            if isinstance(self._other, NotLoaded):
                loaded = self._other.load()
                if loaded.revision != self._other.revision:
                    raise ModelError(
                        f"{self._other.name} was altered while it was in use; restart this process"
                    )
                remember_in(self._memory, loaded)
                self._other = loaded
            return self._other


def serving(pairs: Sequence[Pair]) -> tuple[str, Literal["small", "large"] | None]:
    """The reader by which `default` judges most of ``pairs``, and the one it leaves the rest to;
    None where one reader is all there is."""
    if not is_installed("large"):
        return "small", None
    own = sum(is_in(pair, ROUTED) for pair in pairs)
    return ("large", "small") if 2 * own > len(pairs) else ("small", "large")


def is_in(pair: Pair, language: str) -> bool:
    """Whether ``pair`` is in ``language``: as its document says, or as its passage reads.

    A passage too short to tell counts as in ``language`` if all its letters are ASCII: names,
    figures and codes belong to no language.
    """
    if pair.language is not None:
        return pair.language == language
    text = f"{pair.before} {pair.premise} {pair.after}"
    found, _ = language_of(text)
    if found is not None:
        return found == language
    return all(character.isascii() for character in text if character.isalpha())
