"""How a claim's words differ from its passage's: what the local classifier sees."""

import re
from collections.abc import Iterator

from safepassage.passages.function_words import FUNCTION_WORDS
from safepassage.passages.sentence_splitting import sentences

from .contract import StoppedClaim

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_STEM = 6
MAX_WORDS = 12
"""Words of either side that count; more differ where a claim is put in other words altogether."""
_COUNT_WORDS = frozenset({
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "twenty", "thirty", "forty", "fifty", "sixty", "hundred", "thousand",
})  # fmt: skip
_MONTHS = frozenset({
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
})  # fmt: skip


def features(stopped: StoppedClaim) -> frozenset[str]:
    """Names of what there is: words only the claim has, words only its closest sentence has, each
    as a word, by beginning and ending, and by shape; and how many."""
    claim = _WORD.findall(stopped.claim)
    closest = _WORD.findall(_closest(stopped.passage, claim))
    here, there = {_stem(word) for word in claim}, {_stem(word) for word in closest}
    passage = {_stem(word) for word in _WORD.findall(stopped.passage)}
    novel = [word for word in claim if _stem(word) not in there][:MAX_WORDS]
    missing = [word for word in closest if _stem(word) not in here][:MAX_WORDS]
    found = {f"novel:{min(len(novel), 4)}", f"missing:{min(len(missing), 4)}"}
    for side, words in (("n", novel), ("m", missing)):
        for word in words:
            found.update(f"{side}{name}" for name in _of_word(word))
    if any(_stem(word) in passage for word in novel):
        found.add("elsewhere")  # the word is in another sentence: a mix-up, not an invention
    return frozenset(found)


def _of_word(word: str) -> Iterator[str]:
    folded = word.casefold()
    yield f"={folded}"
    if len(folded) > 4:
        yield f"^{folded[:4]}"
        yield f"${folded[-3:]}"
    if any(map(str.isdigit, word)):
        yield "#digits"
    elif folded in _MONTHS:
        yield "#month"
    elif folded in _COUNT_WORDS:
        yield "#count"
    elif folded in FUNCTION_WORDS:
        yield "#function"
    elif word[0].isupper():
        yield "#capital"


def _closest(passage: str, claim: list[str]) -> str:
    """The sentence of the passage that shares most words with the claim."""
    wanted = {_stem(word) for word in claim}

    def shared(text: str) -> float:
        words = {_stem(word) for word in _WORD.findall(text)}
        return len(words & wanted) / (1 + len(words | wanted))

    texts = (passage[start:end] for start, end in sentences(passage))
    return max(texts, key=shared, default=passage)


def _stem(word: str) -> str:
    return word.casefold()[:_STEM] if word.isalpha() else word.casefold()
