"""The default scorer: comparators say whether the value is there, a reader whether as this.

For every part of a value the comparators look for it in the quote
(`safepassage.scoring_worker.comparison`).
*Different* is decisive: such a pair cannot be accepted. Otherwise the reader reads the quote with
its surroundings: its opinion of the value's words against the best rival, or of the whole
statement where the value is not there in words. The stack weighs both; a value with
parts is worth what its worst part is worth.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from safepassage.schemas import CLAIM_TYPE, Assessment, Finding, ScorerTrail
from safepassage.schemas.evidence import MAX_UNSUPPORTED, Evidence, UnsupportedSpan
from safepassage.scoring_worker.comparison.rules_version import rules_revision
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.devices import Placement, demanded_precision
from safepassage.scoring_worker.encoders.reader import Reader, Reading
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.encoders.token_states import Places
from safepassage.scoring_worker.forest import Predictor
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.memory.index import NO_MEMORY, Memory
from safepassage.scoring_worker.memory.reviewed_alike import Recall, recalled
from safepassage.scoring_worker.memory.states import Bytes, Trace, quantised
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.risk.groups import threshold_of
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.weighing.approved_words import in_other_words, recalled_words
from safepassage.scoring_worker.weighing.claim_support import packaged_forest
from safepassage.scoring_worker.weighing.languages import READ_LANGUAGES, unread_language
from safepassage.scoring_worker.weighing.opinion import CLAUSE, Opinion, opinion_of, shape_of
from safepassage.scoring_worker.weighing.other_fields import (
    better_field,
    excluding_label,
    questions,
)
from safepassage.scoring_worker.weighing.questions import Part, ambiguous_date, parts_of
from safepassage.scoring_worker.weighing.score import DECIMALS, score_of_pair, score_of_part
from safepassage.scoring_worker.weighing.stack import Stack

MAX_FINDINGS = 12
TRACE_DECIMALS = 4

Readings = dict[Task, Reading | PairFailure]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A pair's opinions in the order of its parts, or why it has none; and where they were asked
    for, the reader's states of the parts' words by their number."""

    opinions: tuple[Opinion, ...] = ()
    failure: PairFailure | None = None
    parts: tuple[Part, ...] = ()
    states: Mapping[int, Bytes] = field(default_factory=dict)


class DefaultScorer:
    """Judges by comparators and reader. Thread-safe as far as ``reader`` is."""

    def __init__(
        self,
        manifest: ScorerManifest,
        reader: Reader,
        packs: Sequence[Pack] = (),
        *,
        claims: Predictor | None = None,
    ) -> None:
        names = tuple(pack.name for pack in packs)
        self.manifest = manifest
        self.reader = reader
        self.name = manifest.name
        self.learnt_from = manifest.learnt_from
        self.revision = revision_of(manifest, reader.placement, packs)
        self._packs = tuple(packs)
        self._claims = claims or packaged_forest()
        self._languages = manifest.languages or READ_LANGUAGES
        self._stack = Stack.of(manifest, names)
        self._by_clause = CLAUSE in self._stack.shapes["located"].weights
        self._memory = NO_MEMORY

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; a pair that cannot be judged gets a failure."""
        memory = self._memory  # one for the batch, though another may replace it meanwhile
        judged, readings = self._judge(pairs, memory=memory)
        assessed = [
            self._failed(one.failure)
            if one.failure is not None
            else self._scored(pair, one.opinions, memory)
            for pair, one in zip(pairs, judged, strict=True)
        ]
        return self._beside_other_fields(pairs, judged, assessed, readings)

    def remember(self, memory: Memory) -> None:
        """Weigh what ``memory`` holds from the next batch on."""
        self._memory = memory

    def traces(self, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
        """What each pair would leave in a memory, by part; nothing where it is a claim or failed.
        Where the comparators call a part different no neighbour is asked: only the words leave a
        trace that the quote has in other words, where nothing else differs."""
        judged = self._judge(pairs, whole=True, states=True)[0]
        return [tuple(self._traces(pair, one)) for pair, one in zip(pairs, judged, strict=True)]

    def _traces(self, pair: Pair, judged: _Judged) -> Iterator[Trace]:
        words = in_other_words(judged.parts)
        none = np.zeros(0, np.int8)
        for number, (part, opinion) in enumerate(zip(judged.parts, judged.opinions, strict=True)):
            name = part.asked.entity_type
            if number in words:
                yield Trace(number, name, "words", self.revision, none, 0.0, words[number])
            elif (state := judged.states.get(number)) is not None:
                odds = round(self._stack.log_odds(opinion, pair.entity_type), TRACE_DECIMALS)
                yield Trace(number, name, opinion.shape, self.revision, state, odds)

    def opinions(self, pairs: Sequence[Pair]) -> list[tuple[Opinion, ...]]:
        """What the stack weighs of every pair, for fitting it; empty where a pair has failed."""
        return [judged.opinions for judged in self._judge(pairs, whole=True)[0]]

    def close(self) -> None:
        """Nothing is held open."""

    def _judge(
        self,
        pairs: Sequence[Pair],
        *,
        whole: bool = False,
        memory: Memory = NO_MEMORY,
        states: bool = False,
    ) -> tuple[list[_Judged], Readings]:
        """Opinions on every pair, and all that was read for them. The statement of a value in the
        quote is read only where that could change the verdict, or everywhere where the ``whole``
        is wanted. The reader's ``states`` come where they are asked for or ``memory`` needs
        them."""
        unread = {
            at: why
            for at, pair in enumerate(pairs)
            if (why := unread_language(pair, self._languages))
        }
        approved = frozenset(memory.approved_words(self.revision))
        parts = {
            at: parts_of(pair, self._packs, approved)
            for at, pair in enumerate(pairs)
            if at not in unread
        }
        unread |= {at: why for at in parts if (why := ambiguous_date(parts[at]))}
        parts = {at: found for at, found in parts.items() if at not in unread}
        open_parts = [part for at in parts for part in _open(parts[at])]
        wanted: dict[Task, set[Places]] = {}
        for part in open_parts:
            if part.question is not None and (
                states or memory.knows(self.revision, part.asked.entity_type, shape_of(part))
            ):
                wanted.setdefault(_first(part), set()).add(_words(part))
        clauses = self._by_clause or whole
        asked = ((_first(part), part.clause if clauses else None) for part in open_parts)
        readings = self._read((task for both in asked for task in both if task), wanted)
        known = {at: _states(parts[at], readings) for at in parts}
        recalls = {
            at: {
                number: recall
                for number, part in _numbered_open(parts[at])
                if (recall := self._recall(memory, part, known[at].get(number))) is not None
            }
            for at in parts
        }
        # By pair: a statement read for a neighbour must not move this pair's score.
        stated = {
            at: [
                part.claim
                for number, part in _numbered_open(parts[at])
                if _first(part) == part.claim
                or whole
                or self._matters(pairs[at], part, readings, recalls[at].get(number))
            ]
            for at in parts
        }
        readings |= self._read(
            claim for claims in stated.values() for claim in claims if claim not in readings
        )
        judged = [
            _Judged(failure=unread[at])
            if at in unread
            else _judged(
                parts[at], readings, stated[at], self._claims, recalls=recalls[at], states=known[at]
            )
            for at in range(len(pairs))
        ]
        return judged, readings

    def _read(
        self, tasks: Iterable[Task], wanted: Mapping[Task, set[Places]] | None = None
    ) -> Readings:
        listed = list(tasks)
        return dict(zip(listed, self.reader.read(listed, wanted), strict=True))

    def _recall(self, memory: Memory, part: Part, state: Bytes | None) -> Recall | None:
        name = part.asked.entity_type
        alike = None if state is None else memory.recall(self.revision, name, shape_of(part), state)
        if not part.comparison.other_words:
            return alike
        cases = memory.approved_words(self.revision)
        return recalled_words(part.asked, part.comparison.other_words, cases).beside(alike)

    def _matters(self, pair: Pair, part: Part, readings: Readings, recall: Recall | None) -> bool:
        """Whether what the reader says of the whole statement could change the verdict."""
        clause = readings.get(part.clause) if part.clause else None
        opinion = opinion_of(part, readings[_first(part)], None, self._claims, clause)
        if isinstance(opinion, PairFailure):
            return False
        opinion, name = replace(opinion, recall=recall), pair.entity_type
        least, most = (
            score_of_part(opinion.with_statement(said), name, self._stack, self.manifest)
            for said in (-1.0, 1.0)
        )
        return least < threshold_of(self.manifest.thresholds, pair) <= most

    def _scored(self, pair: Pair, opinions: tuple[Opinion, ...], memory: Memory) -> Assessment:
        score, threshold, recall = score_of_pair(pair, opinions, self._stack, self.manifest)
        if not math.isfinite(score):
            return self._failed(PairFailure("score_not_finite", "the stack gave no number"))
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            score=score,
            threshold=threshold,
            findings=_findings(opinions) + recalled(recall),
            trail=(self._trail(score, threshold),),
            evidence=_evidence(pair, opinions),
            memory=recall.trail(memory.name) if recall else None,
        )

    def _beside_other_fields(
        self,
        pairs: Sequence[Pair],
        judged: Sequence[_Judged],
        assessed: list[Assessment],
        readings: Readings,
    ) -> list[Assessment]:
        """``assessed``, without a value accepted that another field of its schema explains better.
        Values with parts are not asked about: their fields are their own."""
        asked: dict[int, dict[str, Task]] = {}
        for at, one in enumerate(assessed):
            if not one.passes or len(judged[at].parts) != 1:
                continue
            part = judged[at].parts[0]
            if named := excluding_label(pairs[at], part):
                assessed[at] = self._stopped(one, named)
            else:
                asked[at] = questions(pairs[at], part, judged[at].opinions[0])
        wanted = dict.fromkeys(task for tasks in asked.values() for task in tasks.values())
        readings |= self._read(task for task in wanted if task not in readings)
        for at, tasks in asked.items():
            found = tasks and better_field(pairs[at], tasks, judged[at].parts[0], readings)
            if found:
                assessed[at] = self._stopped(assessed[at], found)
        return assessed

    def _stopped(self, accepted: Assessment, finding: Finding) -> Assessment:
        """``accepted`` with ``finding`` and half the threshold as its score."""
        score = round((accepted.threshold or 0.0) / 2, DECIMALS)
        return accepted.model_copy(
            update={
                "score": score,
                "findings": (finding, *accepted.findings)[:MAX_FINDINGS],
                "trail": (self._trail(score, accepted.threshold),),
            }
        )

    def _failed(self, failure: PairFailure) -> Assessment:
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            failure=failure.reason,
            failure_detail=failure.detail,
            findings=(Finding(code=failure.reason, detail=failure.detail[:500]),),
            trail=(self._trail(None, None, failure.detail),),
        )

    def _trail(
        self, score: float | None, threshold: float | None, failure: str | None = None
    ) -> ScorerTrail:
        return ScorerTrail(
            scorer=self.name,
            revision=self.revision,
            score=score,
            threshold=threshold,
            failure=failure,
        )


def revision_of(manifest: ScorerManifest, placement: Placement, packs: Sequence[Pack] = ()) -> str:
    """The revision of the scorer that these make: of its files, a demanded precision, the rules
    and the packs."""
    rules = rules_revision(tuple(pack.name for pack in packs))
    return f"{manifest.revision}{demanded_precision(placement, manifest.precision)}-{rules}"


def _open(parts: Sequence[Part]) -> Sequence[Part]:
    """The parts that have to be read: none where one of them differs, for that decides."""
    decided = any(part.comparison.answer == "different" for part in parts)
    return () if decided else [part for part in parts if not part.unread]


def _numbered_open(parts: Sequence[Part]) -> list[tuple[int, Part]]:
    reading = bool(_open(parts))
    return [(at, part) for at, part in enumerate(parts) if reading and not part.unread]


def _words(part: Part) -> Places:
    """The value's words where the reader reads them first; see `_first`."""
    if _first(part) == part.claim:
        return ()
    return tuple(
        sorted({(p.start + part.shift, p.end + part.shift) for p in part.comparison.places})
    )


def _states(parts: Sequence[Part], readings: Readings) -> dict[int, Bytes]:
    """The states of the parts' words by the number of the part, as far as they were asked for."""
    found = {}
    for number, part in _numbered_open(parts):
        read = readings[_first(part)]
        if isinstance(read, Reading) and (state := read.states.get(_words(part))) is not None:
            found[number] = quantised(state)
    return found


def _first(part: Part) -> Task:
    """What the reader is asked first: which words answer, where the value is in the quote;
    else whether the statement follows."""
    located = part.question is not None and part.comparison.places
    return part.question if located and part.question is not None else part.claim


def _judged(
    parts: Sequence[Part],
    readings: Readings,
    stated: Sequence[Task],
    forest: Predictor,
    *,
    recalls: Mapping[int, Recall],
    states: Mapping[int, Bytes],
) -> _Judged:
    """The opinions on ``parts``; ``stated`` are the statements that were read for them."""
    opinions = []
    reading = bool(_open(parts))
    for number, part in enumerate(parts):
        read = readings[_first(part)] if reading and _first(part) != part.claim else None
        entailed = readings[part.claim] if part.claim in stated else None
        clause = readings.get(part.clause) if reading and part.clause else None
        opinion = opinion_of(part, read, entailed, forest, clause)
        if isinstance(opinion, PairFailure):
            return _Judged(failure=opinion)
        opinions.append(replace(opinion, recall=recalls.get(number)))
    return _Judged(tuple(opinions), parts=tuple(parts), states=states)


def _findings(opinions: Sequence[Opinion]) -> tuple[Finding, ...]:
    """Those of parts that differ first: they are why the pair is refused."""
    ordered = sorted(opinions, key=lambda opinion: not opinion.different)
    found = dict.fromkeys(finding for opinion in ordered for finding in opinion.findings)
    return tuple(found)[:MAX_FINDINGS]


def _evidence(pair: Pair, opinions: Sequence[Opinion]) -> Evidence | None:
    """The words of a claim that the reader found no support for, and those that are nowhere in
    what was retrieved, in order; of values there are none."""
    if pair.entity_type != CLAIM_TYPE or not isinstance(pair.value, str):
        return None
    unfounded = [(place.start, place.end) for opinion in opinions for place in opinion.unfounded]
    covered = {at for start, end in unfounded for at in range(start, end)}
    absent = [place for place in pair.absent or () if covered.isdisjoint(range(*place))]
    spans = [UnsupportedSpan(start=a, end=b) for a, b in sorted([*unfounded, *absent])]
    return Evidence(unsupported=tuple(spans[:MAX_UNSUPPORTED])) if spans else None
