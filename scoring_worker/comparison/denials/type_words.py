"""What the words of an entity type ask for, and where a passage says or denies those words."""

from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz.distance import Prefix

from safepassage.schemas import entity_type_name

from .cued_text import CuedText
from .languages import in_any, telling
from .scopes import Scope, denies, is_break
from .tokens import small_words, tokens_of

_STEM = 4
_REACH = 40
"""Words on either side of the value among which the type's word is looked for."""
_BETWEEN = 1
"""Words between a denial and the type's word ("no audit rights")."""
_BETWEEN_AT_MOST = 5
_LONGEST_LABEL = 5
MAX_TYPE = 500


@lru_cache(maxsize=4096)
def words_of_type(entity_type: str) -> tuple[str, ...]:
    """The folded words of a type, ``camelCase`` and ``snake_case`` taken apart."""
    name = entity_type_name(entity_type[:MAX_TYPE])
    return tuple(token.text for token in tokens_of(name) if token.is_word)


@lru_cache(maxsize=4096)
def context_of_type(entity_type: str) -> frozenset[str]:
    """The words of a type that say of what something is asked: "findings" in "Severity of
    findings", "weight" in "weight change". Its head, what is asked for, is the last word before a
    preposition."""
    words = words_of_type(entity_type)
    joints = in_any("prepositions")
    head = next((at for at, word in enumerate(words) if at and word in joints), len(words)) - 1
    return frozenset(w for w in words if len(w) >= _STEM).difference(words[head : head + 1])


@lru_cache(maxsize=4096)
def asks_for(entity_type: str, section: str) -> bool:
    """Whether a word of the type is in ``section`` ("asks", "asks if", "asks someone") of any
    language: the type may be in another one than the document."""
    if not in_any(section).isdisjoint(words_of_type(entity_type)):
        return True
    bare = entity_type[:MAX_TYPE]
    if section != "asks" or not telling(None).among(small_words(bare)):
        return False
    return denies(bare)


def mentions_of_type(
    entity_type: str,
    reading: CuedText,
    scopes: Sequence[Scope],
    start: int,
    end: int,
    *,
    near: bool = True,
) -> dict[int, str | None]:
    """Where tokens ``start`` to ``end`` have a word with the stem of one of the type's, with the
    words that deny it, or None.

    ``near``: only a denial right beside the word counts, not one whose reach ends behind it.
    """
    stems = [word for word in words_of_type(entity_type) if len(word) >= _STEM]
    beginnings = {stem[:_STEM] for stem in stems}
    return {
        at: _denied_at(reading, scopes, at, near=near)
        for at, token in enumerate(reading.tokens[start:end], start)
        if token.text[:_STEM] in beginnings and any(same_stem(token.text, stem) for stem in stems)
    }


def denied_words_of_type(
    entity_type: str, reading: CuedText, scopes: Sequence[Scope], value: tuple[int, int]
) -> str | None:
    """The words that deny the type's word next to the ``value``, given by its tokens.

    Only within the sentence, and only where no mention that is not denied is nearer. Not for
    questions: of their words most are not what is asked for.
    """
    if len(words_of_type(entity_type)) > _LONGEST_LABEL or entity_type.rstrip().endswith("?"):
        return None
    first, last = value
    start, end = sentence_around(reading, first, last)
    own = [token.text for token in reading.tokens[first:last]]
    mentions = {
        at: denied
        for at, denied in mentions_of_type(entity_type, reading, scopes, start, end).items()
        if not first <= at < last
        and not any(same_stem(reading.tokens[at].text, word) for word in own)
    }
    if not mentions:
        return None
    nearest = min(mentions, key=lambda at: (first - at if at < first else at - last, -at))
    # "No injury except a fracture", "no change, but a fracture": the value is on the other side.
    turned = (reading.marks["except"] | reading.marks["close"]) & set(range(nearest, first))
    return None if turned else mentions[nearest]


def same_stem(word: str, other: str) -> bool:
    """Whether two words begin alike as far as inflections leave them: smoker, smokes."""
    if word == other:
        return True
    shorter = min(len(word), len(other))
    if shorter < _STEM or abs(len(word) - len(other)) > 4:
        return False
    common = Prefix.similarity(word, other)
    return common >= max(_STEM, shorter - 2) and common >= max(len(word), len(other)) - 4


def _denied_at(reading: CuedText, scopes: Sequence[Scope], at: int, *, near: bool) -> str | None:
    for scope in scopes:
        if scope.sense != "denied" or not scope.cue.sure:
            continue
        within = scope.cue.start <= at < scope.cue.end
        between = _BETWEEN if near or scope.negator else _BETWEEN_AT_MOST
        ahead = not scope.backward and 0 <= at - scope.cue.end <= between and at < scope.end
        behind = scope.backward and scope.start <= at < scope.end and scope.cue.start - at <= 2
        if within or ahead or behind:
            return reading.words(min(scope.cue.start, at), max(scope.cue.end, at + 1))
    return None


def sentence_around(
    reading: CuedText, first: int, last: int, reach: int = _REACH
) -> tuple[int, int]:
    """The tokens of the sentence around others, ``reach`` of them at most on either side."""
    start, end = first, last
    while start > max(0, first - reach) and not is_break(reading, start - 1):
        start -= 1
    while end < min(len(reading.tokens), last + reach) and not is_break(reading, end):
        end += 1
    return start, end
