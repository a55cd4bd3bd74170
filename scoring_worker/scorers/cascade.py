"""The cascade: what is cheap decides first, and only what stays uncertain costs more.

::

    first ─outside the band▶ its decision
      └inside▶ second (`large`, an LLM, a decision model) ▶ its decision, or a failure

What the comparators of the default scorer call different has a score below the band: nobody else
is asked about another date or figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from safepassage.schemas import Assessment, Finding, render_value, stable_id
from safepassage.scoring_worker.learnt_from import said_by
from safepassage.scoring_worker.memory.index import Memory
from safepassage.scoring_worker.memory.learning import remember_in, traces_of
from safepassage.scoring_worker.memory.states import Trace
from safepassage.scoring_worker.scorer import Pair, Scorer

from .endpoint_questions import GraderMisconfigured

BAND = (0.1, 0.9)
"""Scores of the first scorer between these, less its doubts (`doubt_of`) where a decision
model is next, are uncertain."""
UNREAD = "language_not_covered"
ORDER_VERSION: Final = "1"
"""Part of a cascade's revision: another order decides otherwise."""
OF_WORDS: Final = 0.2
OF_OTHERS: Final = 0.1
_NOTATION: Final = frozenset(
    {"accents_differ", "acronym_possible", "acronym_spelt", "check_digit", "name_initial"}
    | {"name_order", "name_transliterated", "phone_prefix", "spacing_differs"}
)
"""Doubts about how a value is written, and not about which one it is."""
_FIGURE: Final = re.compile(r"\d[\d.,]*")
_NAME: Final = re.compile(r"\b[^\W\d_a-z][^\W\d_]+")

Doubt = Callable[[Pair, Assessment], float]

log = structlog.get_logger()


def no_doubt(_pair: Pair, _assessment: Assessment) -> float:
    """For cascades that go by the score alone."""
    return 0.0


def doubt_of(pair: Pair, assessment: Assessment) -> float:
    """How much nearer to its threshold a passing score should be held than it is; 0 to .3.

    Measured on the natural errors of `benchmarks.general`, a development set (the figures are in
    docs/how-to/choose-a-scorer.md): of what `default` lets pass, .62 is wrong where a check has a
    doubt about the value's words and .29 elsewhere; .37 where the quote has more figures or names
    than the value, and .24 elsewhere. A label in front of the value, or a word of denial in its
    clause, told no more than these.
    """
    of_words = any(
        not finding.contradicts and finding.code not in _NOTATION for finding in assessment.findings
    )
    return OF_WORDS * of_words + OF_OTHERS * _has_others(pair)


def _has_others(pair: Pair) -> bool:
    """Whether the quote has two more figures, or names, than the value."""
    value = pair.value if isinstance(pair.value, str) else render_value(pair.value)
    kind = _FIGURE if _FIGURE.search(value) else _NAME
    return sum(found.strip(".,") not in value for found in set(kind.findall(pair.premise))) >= 2


def asking_score(pair: Pair, assessment: Assessment, doubt: Doubt) -> float | None:
    """The score by which a second is asked or not: what passes is brought near its threshold by
    ``doubt``, and never below. None where nobody is asked."""
    if assessment.score is None or any(finding.contradicts for finding in assessment.findings):
        return None  # a contradiction decides: the second would change nothing
    if not assessment.passes:
        return assessment.score
    return max(assessment.threshold or 0.0, assessment.score - doubt(pair, assessment))


class CascadeScorer:
    """``first``, then ``second`` for scores inside ``band``; ``doubt`` is taken off scores that
    pass, down to their threshold.

    The trail of each assessment names every step that looked at the pair. A pair that the second
    could not judge gets a failure: the first was uncertain of it, so nobody accepts it. Only in a
    language that the second does not read, the first's decision holds.
    """

    def __init__(
        self,
        first: Scorer,
        second: Scorer,
        *,
        band: tuple[float, float] = BAND,
        name: str = "cascade",
        doubt: Doubt = no_doubt,
    ) -> None:
        if not 0 <= band[0] <= band[1] <= 1:
            raise ValueError(f"band {band} is not within [0, 1]")
        self._first = first
        self._second = second
        self.name = name
        self._band = band
        self._doubt = doubt
        self.learnt_from = said_by(first)
        parts = (first.revision, second.revision, repr(band))
        ordered = () if doubt is no_doubt else (ORDER_VERSION,)
        self.revision = stable_id(name, *parts, *ordered)[:16]

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order."""
        answers = self._ask(self._first, pairs, list(range(len(pairs))), {})
        uncertain = [at for at, answer in answers.items() if self._is_uncertain(pairs[at], answer)]
        answers |= self._ask_second(pairs, uncertain, answers)
        log.info("cascade", pairs=len(pairs), by_second=len(uncertain))
        return [answers[at] for at in range(len(pairs))]

    def remember(self, memory: Memory) -> None:
        """Weigh what ``memory`` holds from the next batch on, each scorer its own part."""
        remember_in(memory, self._first, self._second)

    def traces(self, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
        """What each pair would leave in a memory, by both scorers: either may judge the next."""
        both = (traces_of(scorer, pairs) for scorer in (self._first, self._second))
        return [first + second for first, second in zip(*both, strict=True)]

    def close(self) -> None:
        """Close both scorers."""
        self._first.close()
        self._second.close()

    def _is_uncertain(self, pair: Pair, assessment: Assessment) -> bool:
        low, high = self._band
        score = asking_score(pair, assessment, self._doubt)
        return score is not None and low <= score <= high

    def _ask_second(
        self, pairs: Sequence[Pair], positions: list[int], before: dict[int, Assessment]
    ) -> dict[int, Assessment]:
        try:
            return self._ask(self._second, pairs, positions, before)
        except GraderMisconfigured as error:
            log.error("grader_misconfigured", pairs=len(positions))  # noqa: TRY400 (no trace)
            return {at: self._failed(before[at], str(error)) for at in positions}

    def _ask(
        self,
        scorer: Scorer,
        pairs: Sequence[Pair],
        positions: list[int],
        before: dict[int, Assessment],
    ) -> dict[int, Assessment]:
        assessments = scorer.assess([pairs[at] for at in positions]) if positions else []
        if len(assessments) != len(positions):
            raise RuntimeError(f"{scorer.name}: {len(assessments)} of {len(positions)} answers")
        return {
            at: self._joined(before.get(at), assessment)
            for at, assessment in zip(positions, assessments, strict=True)
        }

    def _joined(self, before: Assessment | None, last: Assessment) -> Assessment:
        findings: tuple[Finding, ...] = before.findings if before else ()
        trail = before.trail if before else ()
        deciding = before if before is not None and last.failure == UNREAD else last
        return deciding.model_copy(
            update={
                "scorer": self.name,
                "revision": self.revision,
                "findings": findings + last.findings,
                "trail": trail + last.trail,
                # The first's memory had part in whether the second was asked.
                "memory": last.memory or (before.memory if before else None),
            }
        )

    def _failed(self, before: Assessment, detail: str) -> Assessment:
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            failure="scorer_failed",
            failure_detail=detail,
            findings=before.findings,
            trail=before.trail,
        )
