"""Documents, and contexts quoted from them as they are, with edits, or from elsewhere."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SHARED = Path(__file__).parents[1] / ".." / "shared" / "data"
CONTEXTS = 9
"""Contexts a document: what an extractor finds in a decision of the tribunal."""

Kind = Literal["verbatim", "perturbed", "foreign"]
KINDS: tuple[Kind, ...] = ("verbatim", "perturbed", "foreign")
MIXES: dict[str, tuple[int, int, int]] = {
    "90/5/5": (90, 5, 5),
    "55/40/5": (55, 40, 5),
    "0/0/100": (0, 0, 100),
}
"""Percent verbatim, perturbed and foreign."""

# Quantiles of the lengths of the 675 contexts that an LLM quoted from the tribunal's decisions.
_LENGTHS = (13, 25, 42, 61, 82, 108, 138)
_WORDS = (
    *("the", "of", "and", "to", "in", "that", "a", "is", "was", "for", "not", "by", "with", "on"),
    *("claimant", "panel", "refugee", "hearing", "evidence", "state", "risk", "persecution"),
    *("decision", "police", "credible", "testimony", "identity", "passport", "counsel", "section"),
)


@dataclass(frozen=True)
class Case:
    """A document with the contexts quoted for it."""

    text: str
    contexts: tuple[tuple[Kind, str], ...]


def source() -> tuple[str, list[str]]:
    """What the texts are, and the texts: real decisions, or made up where those are absent."""
    path = SHARED / "tribunal" / "documents.jsonl.gz"
    if not path.exists():
        return "made-up English", [_prose(seed, 25_000) for seed in range(60)]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return "tribunal decisions", [json.loads(line)["text"] for line in lines]


def documents(texts: Sequence[str], characters: int, count: int, seed: int) -> list[str]:
    """``count`` documents of exactly so many characters, made of whole texts in random order.

    No text is used twice before all were.
    """
    rng = random.Random(seed)
    order: list[str] = []
    made: list[str] = []
    while len(made) < count:
        text = ""
        while len(text) < characters:
            if not order:
                order = list(texts)
                rng.shuffle(order)
            text += order.pop() + "\n"
        made.append(text[:characters])
    return made


def cases(texts: Sequence[str], characters: int, count: int, mix: str, seed: int) -> list[Case]:
    """Documents with `CONTEXTS` contexts each, in the mix's exact proportions over all of them."""
    rng = random.Random(seed)
    made = documents(texts, characters, count + 1, seed)
    kinds = _kinds(MIXES[mix], count * CONTEXTS)
    rng.shuffle(kinds)
    return [
        Case(
            made[n],
            tuple(
                (kind, _context(kind, made[n], made[n + 1], rng))
                for kind in kinds[n * CONTEXTS : (n + 1) * CONTEXTS]
            ),
        )
        for n in range(count)
    ]


def _kinds(mix: tuple[int, int, int], total: int) -> list[Kind]:
    counts = [max(percent > 0, round(total * percent / 100)) for percent in mix]
    counts[mix.index(max(mix))] += total - sum(counts)
    return [kind for kind, count in zip(KINDS, counts, strict=True) for _ in range(count)]


def _context(kind: Kind, text: str, other: str, rng: random.Random) -> str:
    if kind == "foreign":
        return _quote(other, rng)
    quote = _quote(text, rng)
    return quote if kind == "verbatim" else perturb(quote, rng)


def _quote(text: str, rng: random.Random) -> str:
    """A stretch of whole words, of a length as LLMs quote."""
    low = rng.randrange(len(_LENGTHS) - 1)
    length = rng.randint(_LENGTHS[low], _LENGTHS[low + 1])
    while True:
        start = rng.randrange(len(text) - length - 40)
        start = text.index(" ", start) + 1 if " " in text[start : start + 30] else start
        quote = text[start : start + length].rsplit(" ", 1)[0].strip()
        if len(quote) >= 12:
            return quote


def perturb(quote: str, rng: random.Random) -> str:
    """An edit as LLMs or scanners make them: never none, seldom a large one."""
    words = quote.split()
    middle = len(words) // 2
    edits = (
        lambda: "".join(c if rng.random() > 0.05 else rng.choice("eailc1,") for c in quote) + "i",
        lambda: "".join(c for c in quote if rng.random() > 0.04)[1:],
        lambda: " ".join(words[:middle] + words[middle + 1 :]),
        lambda: " ".join([*words[:middle], rng.choice(_WORDS), *words[middle:]]),
        lambda: " ".join([*words[:middle], rng.choice(_WORDS), *words[middle + 1 :]]),
        lambda: re.sub(" ", lambda _: rng.choice((" ", " ", "")), quote).upper()[:-1] + " .",
        lambda: " ".join(words[1:] + words[:1]),
    )
    return rng.choice(edits)()


def _prose(seed: int, characters: int) -> str:
    """Text with word frequencies roughly as in English and a name or number now and then."""
    rng = random.Random(seed)
    words: list[str] = []
    while sum(map(len, words)) + len(words) < characters:
        rank = min(int(rng.paretovariate(0.6)) - 1, len(_WORDS) - 1)
        words.append(_WORDS[rank] if rng.random() < 0.7 else _invented(rng))
    return " ".join(words)


def _invented(rng: random.Random) -> str:
    syllables = ("an", "to", "re", "li", "mo", "sta", "ber", "tion", "kha", "ill", "20", "1")
    return "".join(rng.choice(syllables) for _ in range(rng.randint(1, 4)))
