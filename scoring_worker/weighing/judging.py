"""Pairs on their way through the judge: parts, reading, words, opinion, score, other fields.

Each stage takes all pairs of a batch before the next begins, so that the reader is visited once a
stage. What is asked of one passage for several pairs is read once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from safepassage.schemas import Finding
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.reader import Reader, Reading, Wanted
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.encoders.token_states import Places
from safepassage.scoring_worker.forest import Predictor
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.memory.index import Memory
from safepassage.scoring_worker.memory.reviewed_alike import Recall
from safepassage.scoring_worker.memory.states import Bytes, quantised
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.risk.groups import threshold_of
from safepassage.scoring_worker.scorer import Pair

from .approved_words import recalled_words
from .languages import READ_LANGUAGES, unread_language
from .opinion import CLAUSE, Opinion, opinion_of, shape_of
from .other_fields import better_field, excluding_label, may_be_better, questions
from .questions import Part, ambiguous_date, parts_of
from .score import PairScore, score_of_pair, score_of_part
from .stack import Stack


@dataclass(frozen=True, slots=True)
class Rules:
    """What pairs are judged by, beside the reader and what reviewers decided."""

    manifest: ScorerManifest
    revision: str
    stack: Stack
    claims: Predictor
    packs: tuple[Pack, ...] = ()


@dataclass(slots=True)
class JudgedPart:
    """A part with what is known of it: the reader's ``state`` of its words, what reviewers decided
    on like ones, and whether its statement is read too."""

    part: Part
    state: Bytes | None = None
    recall: Recall | None = None
    stated: bool = False


@dataclass(slots=True)
class JudgedPair:
    """A pair with what is known of it. ``failure`` says why it cannot be judged; ``other`` names
    the field that its value answers better, where it would be accepted otherwise."""

    pair: Pair
    parts: list[JudgedPart] = field(default_factory=list)
    failure: PairFailure | None = None
    opinions: tuple[Opinion, ...] = ()
    score: PairScore | None = None
    other: Finding | None = None

    def to_read(self) -> Iterator[tuple[Pair, JudgedPart]]:
        """The parts that have to be read: none where one of them differs, for that decides."""
        if all(one.part.comparison.answer != "different" for one in self.parts):
            yield from ((self.pair, one) for one in self.parts if not one.part.unread)


class Batch:
    """``pairs`` that are judged together. An opinion on all parts of a pair is formed at once; with
    ``whole`` every statement is read, not only those that could change a verdict. The reader's
    ``states`` come where they are asked for or ``memory`` needs them."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        rules: Rules,
        reader: Reader,
        memory: Memory,
        *,
        whole: bool = False,
        states: bool = False,
    ) -> None:
        self._rules, self._reader, self._memory = rules, reader, memory
        self._readings: dict[Task, Reading | PairFailure] = {}
        approved = frozenset(memory.approved_words(rules.revision))
        self.pairs = [self._compared(pair, approved) for pair in pairs]
        self._read_parts(whole=whole, states=states)
        for one in self.pairs:
            self._weigh(one)

    def score(self) -> None:
        """Score each pair, and hold a value that would be accepted against the other fields of its
        schema. A value with parts is not: their fields are their own."""
        rules, contested = self._rules, list[tuple[JudgedPair, Part, dict[str, Task]]]()
        for one in self.pairs:
            if one.failure is None:
                one.score = score_of_pair(one.pair, one.opinions, rules.stack, rules.manifest)
            if one.score and one.score.passes and len(one.parts) == 1:
                part = one.parts[0].part
                one.other = excluding_label(one.pair, part)
                tasks = {} if one.other else questions(one.pair, part, one.opinions[0])
                if tasks:
                    contested.append((one, part, tasks))
        self._read(next(iter(tasks.values())) for _, _, tasks in contested)
        contested = [
            (one, part, tasks)
            for one, part, tasks in contested
            if may_be_better(one.pair, tasks, part, self._readings)
        ]
        self._read(task for _, _, tasks in contested for task in tasks.values())
        for one, part, tasks in contested:
            one.other = better_field(one.pair, tasks, part, self._readings)

    def _compared(self, pair: Pair, approved: frozenset[str]) -> JudgedPair:
        if unread := unread_language(pair, self._rules.manifest.languages or READ_LANGUAGES):
            return JudgedPair(pair, failure=unread)
        parts = parts_of(pair, self._rules.packs, approved)
        if ambiguous := ambiguous_date(parts):
            return JudgedPair(pair, failure=ambiguous)
        return JudgedPair(pair, [JudgedPart(part) for part in parts])

    def _read(self, tasks: Iterable[Task], wanted: Wanted | None = None) -> None:
        """Read those of ``tasks`` that were not read yet."""
        new = [task for task in dict.fromkeys(tasks) if task not in self._readings]
        if new:
            self._readings |= zip(new, self._reader.read(new, wanted), strict=True)

    def _read_parts(self, *, whole: bool, states: bool) -> None:
        open_parts = [read for one in self.pairs for read in one.to_read()]
        wanted: dict[Task, set[Places]] = {}
        for _, one in open_parts:
            if one.part.question is not None and (states or self._remembers(one.part)):
                wanted.setdefault(one.part.first, set()).add(one.part.words)
        clauses = whole or CLAUSE in self._rules.stack.shapes["located"].weights
        asked = ((one.part.first, one.part.clause if clauses else None) for _, one in open_parts)
        self._read((task for both in asked for task in both if task), wanted)
        for pair, one in open_parts:
            read = self._readings[one.part.first]
            state = read.states.get(one.part.words) if isinstance(read, Reading) else None
            one.state = None if state is None else quantised(state)
            one.recall = self._recall(one)
            # By pair: a statement read for a neighbour must not move this pair's score.
            one.stated = one.part.first == one.part.claim or whole or self._matters(pair, one)
        self._read(one.part.claim for _, one in open_parts if one.stated)

    def _remembers(self, part: Part) -> bool:
        return self._memory.knows(self._rules.revision, part.asked.entity_type, shape_of(part))

    def _recall(self, one: JudgedPart) -> Recall | None:
        part, revision, alike = one.part, self._rules.revision, None
        if one.state is not None:
            name = part.asked.entity_type
            alike = self._memory.recall(revision, name, shape_of(part), one.state)
        if not part.comparison.other_words:
            return alike
        cases = self._memory.approved_words(revision)
        return recalled_words(part.asked, part.comparison.other_words, cases).beside(alike)

    def _matters(self, pair: Pair, one: JudgedPart) -> bool:
        """Whether what the reader says of the whole statement could change the verdict."""
        opinion, rules = self._opinion(one, read=True), self._rules
        if isinstance(opinion, PairFailure):
            return False
        least, most = (
            score_of_part(
                opinion.with_statement(said), pair.entity_type, rules.stack, rules.manifest
            )
            for said in (-1.0, 1.0)
        )
        return least < threshold_of(rules.manifest.thresholds, pair) <= most

    def _weigh(self, judged: JudgedPair) -> None:
        read = any(True for _ in judged.to_read())
        opinions = [self._opinion(one, read=read) for one in judged.parts]
        failures = (one for one in opinions if isinstance(one, PairFailure))
        judged.failure = next(failures, judged.failure)
        judged.opinions = tuple([one for one in opinions if isinstance(one, Opinion)])

    def _opinion(self, one: JudgedPart, *, read: bool) -> Opinion | PairFailure:
        part, said = one.part, self._readings if read else {}
        opinion = opinion_of(
            part,
            None if part.first == part.claim else said.get(part.first),
            said[part.claim] if one.stated else None,
            self._rules.claims,
            said.get(part.clause) if part.clause else None,
        )
        return opinion if isinstance(opinion, PairFailure) else replace(opinion, recall=one.recall)
