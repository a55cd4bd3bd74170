"""Clauses that a contract has or has not: their value is yes or no, their passage the clause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from safepassage.scoring_worker.packs.folding import fold

_ANSWERS = {"yes": True, "oui": True, "true": True, "no": False, "non": False, "false": False}


@dataclass(frozen=True, slots=True)
class Clause:
    """A row of clauses.txt: the types that ask for it, and what its passages speak of."""

    types: tuple[frozenset[str], ...]
    spoken: re.Pattern[str]


def answer(value: str) -> bool | None:
    """What a value that is no more than yes or no says; None for any other value."""
    return _ANSWERS.get(fold(value))


@cache
def clauses() -> tuple[Clause, ...]:
    """Every kind of clause of the lexicon."""
    text = files(__package__).joinpath("clauses.txt").read_text("utf-8")
    rows = [line.split(" | ", 1) for line in text.splitlines() if line and line[0] != "#"]
    return tuple(
        Clause(
            tuple(frozenset(words.split()) for words in types.split("; ")),
            re.compile(rf"(?<![a-z])(?:{spoken})"),
        )
        for types, spoken in rows
    )


@cache
def clause_of_type(entity_type: str) -> Clause | None:
    """The kind of clause that ``entity_type`` asks for: the one most of whose words it has."""
    asked = set(re.findall(r"[a-z]+", fold(entity_type)))
    fits = [(len(words), kind) for kind in clauses() for words in kind.types if words <= asked]
    return max(fits, key=lambda fit: fit[0])[1] if fits else None


def share_spoken(clause: Clause, folded: str) -> float:
    """How much the passage speaks of the clause, in [0, 1]: two different words are enough."""
    return min(len(set(clause.spoken.findall(folded))), 2) / 2
