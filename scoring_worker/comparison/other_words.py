"""The words of a quote that people took for other words of a value: "DM2", "type 2 diabetes".

No comparator proves such a pair. A memory of reviewed cases may hold it as a digest of the type,
of the value's words and of the quote's, so that the next value with the same pair is not stopped
by `safepassage.scoring_worker.comparison.founded_words`. The digest is not keyed: what holds it
(a record of the topic ``memories``) is sealed and erased as the states beside it are.

What is in the place of a word is taken from the word beside it, as the finding names it. Where
no word is beside it, it is all that a short quote has besides; from a longer one nothing is learnt.
"""

from collections.abc import Iterable, Iterator, Sequence

from safepassage.schemas import stable_id
from safepassage.scoring_worker.text.segmentation import Word, words_of

from .contract import OtherWords, Place, Question
from .names.parts import place_of
from .names.types import type_words
from .passage_words import has_content, is_letter

MOST_WORDS = 4
"""Words of the quote that together say what the value says in other words."""


def gaps(
    question: Question,
    missing: Sequence[Word],
    places: Sequence[Place | None],
    *,
    learning: bool = False,
) -> list[Iterator[OtherWords]]:
    """What the quote may have in place of the words ``missing`` of a value, of which it has
    ``places`` for some: an iterator for each place, and one for all others together. When
    ``learning``, a place is what one decision is about, and the iterator is empty where that is
    not clear; otherwise every run of words that a decision may have been about."""
    found = [
        _pairs(question, [word], [place])
        for word, place in zip(missing, places, strict=True)
        if place is not None
    ]
    others = [word for word, place in zip(missing, places, strict=True) if place is None]
    if others:
        rest = _rest(question)
        clear = [place_of(rest[0], rest[-1])] if 0 < len(rest) <= MOST_WORDS else []
        found.append(_pairs(question, others, clear if learning else _runs(rest)))
    return found


def _pairs(
    question: Question, words: Sequence[Word], runs: Iterable[Place]
) -> Iterator[OtherWords]:
    """``words`` of the value with each of ``runs``, where the quote may have them."""
    for run in runs:
        theirs = words_of(question.passage.quote[run.start : run.end])
        parts = (" ".join(word.keys.plain for word in several) for several in (words, theirs))
        key = stable_id("other-words", question.entity_type.casefold(), *parts)
        yield OtherWords(key, words[0].text[words[0].start : words[-1].end], run)


def _rest(question: Question) -> list[Word]:
    """The quote's words of content that neither value nor type has."""
    own = {word.keys.plain for word in words_of(str(question.value))}
    own |= set(type_words(question.entity_type))
    quoted = (word for word in words_of(question.passage.quote) if word.keys.plain not in own)
    return [word for word in quoted if has_content(word) or is_letter(word)]


def _runs(rest: Sequence[Word]) -> Iterator[Place]:
    """Neighbours of ``rest``, the most of them first."""
    for count in range(min(MOST_WORDS, len(rest)), 0, -1):
        for start in range(len(rest) - count + 1):
            yield place_of(rest[start], rest[start + count - 1])
