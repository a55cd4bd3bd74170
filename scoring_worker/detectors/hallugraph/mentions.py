"""What a text speaks of, found without a model: by the comparators' own readers and by capitals.

A name is a run of words in capitals; at the beginning of a sentence one capital counts only where
the word has one elsewhere. A term is a run of words that each are behind an article, possessive
or preposition somewhere in these texts. Languages without capitals have names, and languages whose
small words are not listed have terms, that this does not find.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from safepassage.passages.function_words import FUNCTION_WORDS
from safepassage.passages.sentence_splitting import sentences
from safepassage.scoring_worker.comparison.contract import Place
from safepassage.scoring_worker.comparison.dates import dates_in
from safepassage.scoring_worker.comparison.figures.search import figures_in
from safepassage.scoring_worker.comparison.identifiers.addresses import addresses
from safepassage.scoring_worker.comparison.languages import sections_by_language
from safepassage.scoring_worker.comparison.names.parts import PARTICLES
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.text.segmentation import Word, words_of

from .clauses import cues, stem
from .graph import Entity, EntityKind

MAX_WORDS_OF_NAME = 8
MAX_WORDS_OF_TERM = 4
_FEWEST_LETTERS = 3
_NOUNS = sections_by_language("noun")
"""By language: ``article`` are articles and possessives, a small closed class ("a été" has none);
``preposition`` is before things that are not counted ("of water")."""
_ARTICLES = {language: frozenset(own["article"]) for language, own in _NOUNS.items()}
_ANY_ARTICLE = frozenset().union(*_ARTICLES.values())
_BEFORE_NOUNS = {
    language: _ARTICLES[language] | frozenset(own["preposition"])
    for language, own in _NOUNS.items()
}
_BEFORE_ANY = frozenset().union(*_BEFORE_NOUNS.values())
_JOINING = frozenset({"of", "de", "di", "del", "la", "le", "von", "van", "der", "du", "da", "dos"})
_NAME_GAPS = frozenset({" ", "-", ". ", ".", "'", "’", " & ", "&", "\u00a0", "–"})


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity where it is in ``text[start:end]`` of its sentence's text."""

    entity: Entity
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the texts at hand show of words: ``named`` have a capital inside a sentence, ``nouns``
    (stems) are behind a word that is before nouns."""

    named: frozenset[str]
    nouns: frozenset[str]


def words_before_nouns(language: str | None) -> frozenset[str]:
    """What is before nouns in a language; in any, where the language is not known."""
    return _BEFORE_ANY if language is None else _BEFORE_NOUNS.get(language, frozenset())


def vocabulary(texts: Iterable[tuple[str, str | None]]) -> Vocabulary:
    """Read off texts that are judged together, each with its language where that is known."""
    named: set[str] = set()
    nouns: set[str] = set()
    for text, language in texts:
        before_nouns = words_before_nouns(language)
        for start, end in sentences(text):
            sentence = text[start:end]
            words = words_of(sentence)
            for before, word in pairwise(words):
                plain = word.keys.plain
                if sentence[word.start].isupper() and plain not in FUNCTION_WORDS:
                    named.add(plain)
                if before.keys.plain in before_nouns and _is_content(word):
                    nouns.add(stem(plain))
    return Vocabulary(frozenset(named), frozenset(nouns))


def mentions(
    sentence: str,
    known: Vocabulary,
    language: str | None = None,
    *,
    terms: bool = True,
    packs: Sequence[Pack] = (),
) -> list[Mention]:
    """The entities of one sentence in their order; none overlaps another. What ``packs`` have names
    for comes first."""
    taken = bytearray(len(sentence))
    found: list[Mention] = []

    def take(start: int, end: int, kind: EntityKind, key: str = "") -> None:
        if start < end and taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            entity = Entity(sentence[start:end], kind, Place(start, end), key)
            found.append(Mention(entity, start, end))

    for pack in packs:
        for thing in pack.things(sentence):
            take(thing.start, thing.end, "thing", f"{thing.kind} {thing.key}".strip())
    for address in addresses(sentence):
        take(address.place.start, address.place.end, "identifier")
    for date in dates_in(sentence, language):
        # "may" is the month only with a day, a year or a capital beside it.
        written = sentence[date.start : date.end]
        # What is no date alone (the second day of "May 1 and 2") matches as the figure that it is.
        is_modal = written in cues("permission")
        if date.certainty == "stated" and not is_modal and dates_in(written):
            take(date.start, date.end, "date")
    for figure in figures_in(sentence, language):
        if figure.stands:
            take(figure.place.start, figure.place.end, "figure")
    words = words_of(sentence)
    free = [taken.find(1, word.start, word.end) < 0 for word in words]
    for first, last in _names(sentence, words, free, known):
        take(words[first].start, words[last].end, "name")
    if terms:
        free = [taken.find(1, word.start, word.end) < 0 for word in words]
        for first, last in _terms(sentence, words, free, known):
            take(words[first].start, words[last].end, "term")
    return sorted(found, key=lambda mention: mention.start)


def _names(
    sentence: str, words: Sequence[Word], free: Sequence[bool], known: Vocabulary
) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(words):
        if not (free[at] and _may_be_named(sentence, words[at])):
            at += 1
            continue
        last = at
        for following in range(at + 1, min(len(words), at + MAX_WORDS_OF_NAME)):
            if not free[following] or not _joined(sentence, words, following):
                break
            if _may_be_named(sentence, words[following]):
                last = following
            elif words[following].keys.plain not in _JOINING | PARTICLES:
                break
        if last > at or _names_alone(sentence, words, at, known):
            yield at, last
        at = last + 1


def _may_be_named(sentence: str, word: Word) -> bool:
    return sentence[word.start].isupper() and word.keys.plain not in FUNCTION_WORDS | _ANY_ARTICLE


def _names_alone(sentence: str, words: Sequence[Word], at: int, known: Vocabulary) -> bool:
    """Whether one word in capitals is a name: not merely the first of its sentence."""
    written = sentence[words[at].start : words[at].end]
    if len(written) == 1:
        return False
    if at and not _opens(sentence, words[at].start):
        return True
    return written[1:] != written[1:].lower() or words[at].keys.plain in known.named


def _opens(sentence: str, start: int) -> bool:
    return sentence[:start].rstrip(" \t\n*_#").endswith((":", '"', "“", "«", "„", "•", "(", "-"))


def _joined(sentence: str, words: Sequence[Word], following: int) -> bool:
    return sentence[words[following - 1].end : words[following].start] in _NAME_GAPS


def _terms(
    sentence: str, words: Sequence[Word], free: Sequence[bool], known: Vocabulary
) -> Iterator[tuple[int, int]]:
    fits = [
        free[at] and _is_content(word) and stem(word.keys.plain) in known.nouns
        for at, word in enumerate(words)
    ]
    at = 0
    while at < len(words):
        if not fits[at]:
            at += 1
            continue
        last = at
        while (
            last + 1 < len(words)
            and last + 1 - at < MAX_WORDS_OF_TERM
            and fits[last + 1]
            and sentence[words[last].end : words[last + 1].start] in {" ", "-"}
        ):
            last += 1
        yield at, last
        at = last + 1


def _is_content(word: Word) -> bool:
    plain = word.keys.plain
    return len(plain) >= _FEWEST_LETTERS and plain.isalpha() and plain not in FUNCTION_WORDS
