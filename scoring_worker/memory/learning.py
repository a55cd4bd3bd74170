"""From decisions to entries of a memory, by the scorer that is to remember them.

A value that the comparators refuse teaches no reader: such a pair is decided before it is read.
Where they refuse it for words that the quote has not, and for nothing else, a decision is one on
these words. Of a value with several parts, or several such words, that was refused nobody knows
which was wrong; they are remembered where they were all accepted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from safepassage.schemas import StandingDecision, stable_id
from safepassage.schemas.memory import MAX_WORDS, NAME_DIGITS, MemoryEntry, ReviewerVote
from safepassage.scoring_worker.scorer import Pair, Scorer

from .index import Memory
from .states import Trace, written
from .weights import packaged_weights

BATCH = 64
"""Pairs that are read at a time."""


@runtime_checkable
class RemembersDecisions(Protocol):
    """A scorer with a memory beside its stack."""

    @property
    def revision(self) -> str: ...

    def remember(self, memory: Memory) -> None:
        """Weigh what ``memory`` holds from the next batch on."""

    def traces(self, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
        """What each pair would leave in a memory, by part, in order. Blocks."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A value that somebody decided on."""

    decision: StandingDecision
    role: Literal["judged", "correction"]
    pair: Pair
    votes: tuple[ReviewerVote, ...]


def remembering(scorer: Scorer) -> RemembersDecisions | None:
    """``scorer``, if it has a memory."""
    return scorer if isinstance(scorer, RemembersDecisions) else None


def remember_in(memory: Memory, *scorers: Scorer) -> None:
    """Let those of ``scorers`` that have a memory weigh what ``memory`` holds."""
    for scorer in scorers:
        if own := remembering(scorer):
            own.remember(memory)


def traces_of(scorer: Scorer, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
    """What each pair would leave in the memory of ``scorer``; nothing where it has none."""
    own = remembering(scorer)
    return own.traces(pairs) if own and pairs else [()] * len(pairs)


def memory_revision(scorer: RemembersDecisions) -> str:
    """What the snapshots of a scorer's memory are made for: its revision and the vote's weights."""
    return stable_id("memory-of", scorer.revision, packaged_weights().revision)[:NAME_DIGITS]


def learnt_entries(
    decisions: Sequence[StandingDecision], scorer: RemembersDecisions
) -> list[tuple[MemoryEntry, ...]]:
    """The entries of each decision, in order; none where it has nothing to teach. Blocks."""
    asked = [(at, one) for at, decision in enumerate(decisions) for one in _questions(decision)]
    entries: dict[int, list[MemoryEntry]] = {}
    for start in range(0, len(asked), BATCH):
        part = asked[start : start + BATCH]
        traces = scorer.traces([question.pair for _, question in part])
        for (at, question), left in zip(part, traces, strict=True):
            entries.setdefault(at, []).extend(_entries(question, left))
    return [tuple(entries.get(at, ())) for at in range(len(decisions))]


def _questions(decision: StandingDecision) -> Iterator[_Question]:
    asked = decision.asked
    if asked is None or decision.decision is None:
        return
    votes = decision.votes or (
        ReviewerVote(reviewer=decision.reviewer, supported=decision.decision == "supports"),
    )
    yield _Question(decision, "judged", Pair.decided(asked, asked.value), votes)
    if decision.decision == "corrected":
        corrected = (ReviewerVote(reviewer=decision.reviewer, supported=True),)
        yield _Question(decision, "correction", Pair.decided(asked, decision.value), corrected)


def _entries(question: _Question, traces: Sequence[Trace]) -> Iterator[MemoryEntry]:
    several = isinstance(question.pair.value, list | dict) and len(traces) > 1
    several = several or any(len(trace.words) > 1 for trace in traces)
    if several and not all(vote.supported for vote in question.votes):
        return
    for trace in traces:
        located = trace.shape == "located"
        read: Literal["located", "unlocated"] = "located" if located else "unlocated"
        yield MemoryEntry(
            case_id=question.decision.case_id,
            doc_id=question.decision.doc_id,
            review_id=question.decision.review_id,
            role=question.role,
            entity_type=trace.part,
            number=trace.number,
            shape="words" if trace.words else read,
            space=trace.space,
            state=written(trace.state),
            log_odds=trace.log_odds,
            words=trace.words[:MAX_WORDS],
            votes=question.votes,
        )
