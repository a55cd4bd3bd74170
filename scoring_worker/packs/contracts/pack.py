"""Yes or no about a clause: whether the quote speaks of that kind of clause at all."""

import re
from dataclasses import dataclass
from pathlib import Path

from safepassage.scoring_worker.comparison.answers.truth import truth_of
from safepassage.scoring_worker.comparison.contract import Comparison, Question
from safepassage.scoring_worker.packs.folding import fold
from safepassage.scoring_worker.packs.interface import Notes, Pack, PackOpinion
from safepassage.scoring_worker.text.closed_classes import lines_of


@dataclass(frozen=True, slots=True)
class Clause:
    """A row of clauses.txt: the types that ask for it, and what its passages speak of."""

    types: tuple[frozenset[str], ...]
    spoken: re.Pattern[str]


def _clause(row: str) -> Clause:
    types, spoken = row.split(" | ", 1)
    return Clause(
        tuple(frozenset(words.split()) for words in types.split("; ")),
        re.compile(rf"(?<![a-z])(?:{spoken})"),
    )


CLAUSES = tuple(map(_clause, lines_of(Path(__file__).with_name("clauses.txt"))))


def clause_of_type(entity_type: str) -> Clause | None:
    """The kind of clause that ``entity_type`` asks for: the one most of whose words it has."""
    asked = set(re.findall(r"[a-z]+", fold(entity_type)))
    fits = [(len(words), kind) for kind in CLAUSES for words in kind.types if words <= asked]
    return max(fits, key=lambda fit: fit[0])[1] if fits else None


def share_spoken(clause: Clause, folded: str) -> float:
    """How much the passage speaks of the clause, in [0, 1]: two different words are enough."""
    return min(len(set(clause.spoken.findall(folded))), 2) / 2


MAX_PASSAGE = 20_000
"""Characters of a passage that are read; no clause is longer."""


class ContractsPack(Pack):
    """Knows what the clauses of contracts speak of (clauses.txt)."""

    name = "contracts"

    def opinion(self, question: Question, comparison: Comparison) -> PackOpinion:
        """Features for a value that is yes or no and a type that names a clause."""
        notes = Notes(self.name)
        answer = truth_of(question.value)
        if answer is None:
            return notes.opinion()
        notes.feature("answer_is_yes", answer)
        clause = clause_of_type(question.entity_type)
        if clause is None:
            notes.feature("clause_unknown")
            return notes.opinion()
        spoken = share_spoken(clause, fold(question.passage.quote[:MAX_PASSAGE]))
        notes.feature("clause_spoken_of", spoken)
        if not spoken:
            detail = f"nothing in the passage speaks of {question.entity_type.lower()}"
            notes.finding("other_clause", detail)
        return notes.opinion()
