"""The passages that may support a claim: one retriever, exact about which passage they are of.

The sentences of the context that together cover the claim's words best are taken, wherever they
are, each the one that adds most to those before it. A word counts by its rarity in the context,
so that a table's row is found by its name and not by its column heads, and a long context costs no
more than a short one once it is indexed.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .function_words import FUNCTION_WORDS
from .sentence_splitting import sentences
from .words import WORD, content_words, placed_words

MAX_SENTENCES = 4
MAX_PASSAGE_CHARACTERS = 1_200
"""About what an encoder of 512 tokens reads beside a claim."""

MAX_PIECE_CHARACTERS = 600

MIN_GAIN = 0.04
"""Share of the claim's weight that a further sentence has to add."""

_STEM_CHARACTERS = 6
"""Words are compared by their first letters: "dismissed" and "dismissal" are one."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """``context[passage][start:end]``, whole sentences; ``share`` in [0, 1] is how much of the
    claim's weight they have in common with it."""

    passage: int
    start: int
    end: int
    share: float


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: int
    start: int
    end: int
    stems: frozenset[str]


class Retriever:
    """The passages of a context, split and counted once for all claims on them."""

    def __init__(self, context: Sequence[str]) -> None:
        self._context = tuple(context)
        self._sentences = [
            _Sentence(number, start, end, _stems(text[start:end]))
            for number, text in enumerate(self._context)
            for sentence in sentences(text)
            for start, end in _pieces(text, *sentence)
        ]
        self._occurrences = Counter(stem for sentence in self._sentences for stem in sentence.stems)

    def retrieve(self, claim: str) -> list[Retrieved]:
        """The sentences that share most with ``claim``, in the order of the context; neighbours
        of one passage as one. Empty where nothing is shared."""
        wanted = _stems(claim)
        weights = {stem: self._rarity(stem) for stem in wanted}
        best = sorted(self._best(weights), key=lambda found: (found.passage, found.start))
        return [self._retrieved(run, weights) for run in self._runs(best)]

    def absent(self, claim: str) -> list[tuple[int, int]]:
        """Where in ``claim`` words are that no passage has, in any form; stop words aside."""
        words = placed_words(claim)
        return [(word.start, word.end) for word in words if word.stem not in self._words]

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for text in self._context for word in content_words(text))

    def _best(self, weights: dict[str, float]) -> Iterator[_Sentence]:
        """Sentences, each the one that adds most to what those before it cover."""
        missing = dict(weights)
        least = MIN_GAIN * sum(missing.values())
        room = MAX_PASSAGE_CHARACTERS
        candidates = [found for found in self._sentences if found.stems & missing.keys()]
        for _ in range(MAX_SENTENCES):
            best = max(candidates, key=lambda found: _gain(found, missing), default=None)
            if best is None or _gain(best, missing) <= least:
                return
            yield best
            room -= best.end - best.start
            candidates = [found for found in candidates if found.end - found.start <= room]
            missing = {stem: gain for stem, gain in missing.items() if stem not in best.stems}

    def _rarity(self, stem: str) -> float:
        return math.log(1 + (1 + len(self._sentences)) / (1 + self._occurrences[stem]))

    def _runs(self, ordered: Sequence[_Sentence]) -> list[list[_Sentence]]:
        """Neighbours together, so that they are read as they are."""
        runs: list[list[_Sentence]] = []
        for sentence in ordered:
            last = runs[-1][-1] if runs else None
            between = (
                self._context[sentence.passage][last.end : sentence.start]
                if last and last.passage == sentence.passage
                else None
            )
            if between is None or between.strip():
                runs.append([sentence])
            else:
                runs[-1].append(sentence)
        return runs

    def _retrieved(self, run: Sequence[_Sentence], weights: dict[str, float]) -> Retrieved:
        shared = frozenset().union(*(sentence.stems for sentence in run)) & weights.keys()
        share = sum(weights[stem] for stem in shared) / sum(weights.values())
        return Retrieved(run[0].passage, run[0].start, run[-1].end, min(1.0, share))


def _gain(sentence: _Sentence, missing: dict[str, float]) -> float:
    return sum(missing[stem] for stem in sentence.stems & missing.keys())


def _stems(text: str) -> frozenset[str]:
    words = WORD.findall(text.casefold())
    return frozenset(word[:_STEM_CHARACTERS] for word in words if word not in FUNCTION_WORDS)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence in parts that fit a passage: tables and OCR have "sentences" of any length."""
    while end - start > MAX_PIECE_CHARACTERS:
        blank = text.rfind(" ", start + 1, start + MAX_PIECE_CHARACTERS)
        cut = blank if blank >= 0 else start + MAX_PIECE_CHARACTERS
        yield start, cut
        start = cut
    yield start, end
