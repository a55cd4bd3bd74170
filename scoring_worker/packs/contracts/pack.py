"""Yes or no about a clause: whether the quote speaks of that kind of clause at all."""

from __future__ import annotations

from safepassage.scoring_worker.comparison.answers.truth import truth_of
from safepassage.scoring_worker.comparison.contract import Comparison, Question
from safepassage.scoring_worker.packs.folding import fold
from safepassage.scoring_worker.packs.interface import NamedThing, Opinion
from safepassage.scoring_worker.packs.pack_findings import Notes

from .clauses import clause_of_type, share_spoken

MAX_PASSAGE = 20_000
"""Characters of a passage that are read; no clause is longer."""


class ContractsPack:
    """Knows what the clauses of contracts speak of (clauses.txt)."""

    name = "contracts"

    def synonyms(self, question: Question) -> tuple[str, ...]:
        """None."""
        return ()

    def things(self, sentence: str) -> tuple[NamedThing, ...]:
        """None: contracts name what the law names."""
        del sentence
        return ()

    def opinion(self, question: Question, comparison: Comparison) -> Opinion:
        """Features for a value that is yes or no and a type that names a clause."""
        notes = Notes(self.name)
        answer = truth_of(question.value)
        if answer is None:
            return notes.opinion()
        folded = fold(question.passage.quote[:MAX_PASSAGE])
        notes.feature("answer_is_yes", answer)
        clause = clause_of_type(question.entity_type)
        if clause is None:
            notes.feature("clause_unknown")
            return notes.opinion()
        spoken = share_spoken(clause, folded)
        notes.feature("clause_spoken_of", spoken)
        if not spoken:
            detail = f"nothing in the passage speaks of {question.entity_type.lower()}"
            notes.finding("other_clause", detail)
        return notes.opinion()
