"""The default scorer: comparators say whether the value is there, a reader whether as this.

For every part of a value the comparators look for it in the quote
(`safepassage.scoring_worker.comparison`).
*Different* is decisive: such a pair cannot be accepted. Otherwise the reader reads the quote with
its surroundings: its opinion of the value's words against the best rival, or of the whole
statement where the value is not there in words. The stack weighs both; a value with
parts is worth what its worst part is worth. `safepassage.scoring_worker.weighing.judging` has the
stages.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from safepassage.schemas import CLAIM_TYPE, Assessment, Finding
from safepassage.schemas.evidence import MAX_UNSUPPORTED, Evidence, UnsupportedSpan
from safepassage.scoring_worker.comparison.rules_version import rules_revision
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.devices import Placement, demanded_precision
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.forest import Predictor
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.memory.index import NO_MEMORY, Memory
from safepassage.scoring_worker.memory.reviewed_alike import recalled
from safepassage.scoring_worker.memory.states import Trace
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.weighing.approved_words import in_other_words
from safepassage.scoring_worker.weighing.claim_support import packaged_forest
from safepassage.scoring_worker.weighing.judging import Batch, JudgedPair, Rules
from safepassage.scoring_worker.weighing.opinion import Opinion
from safepassage.scoring_worker.weighing.score import DECIMALS
from safepassage.scoring_worker.weighing.stack import Stack

MAX_FINDINGS = 12
TRACE_DECIMALS = 4


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
        stack = Stack.of(manifest, tuple(pack.name for pack in packs))
        self.manifest = manifest
        self.reader = reader
        self.name = manifest.name
        self.learnt_from = manifest.learnt_from
        self.revision = revision_of(manifest, reader.placement, packs)
        forest = claims or packaged_forest()
        self._rules = Rules(manifest, self.revision, stack, forest, tuple(packs))
        self._memory = NO_MEMORY

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; a pair that cannot be judged gets a failure."""
        memory = self._memory  # one for the batch, though another may replace it meanwhile
        batch = Batch(pairs, self._rules, self.reader, memory)
        batch.score()
        return [self._assessment(one, memory.name) for one in batch.pairs]

    def remember(self, memory: Memory) -> None:
        """Weigh what ``memory`` holds from the next batch on."""
        self._memory = memory

    def traces(self, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
        """What each pair would leave in a memory, by part; nothing where it is a claim or failed.
        Where the comparators call a part different no neighbour is asked: only the words leave a
        trace that the quote has in other words, where nothing else differs."""
        batch = Batch(pairs, self._rules, self.reader, NO_MEMORY, whole=True, states=True)
        return [() if one.failure else tuple(self._traces(one)) for one in batch.pairs]

    def opinions(self, pairs: Sequence[Pair]) -> list[tuple[Opinion, ...]]:
        """What the stack weighs of every pair, for fitting it; empty where a pair has failed."""
        batch = Batch(pairs, self._rules, self.reader, NO_MEMORY, whole=True)
        return [() if one.failure else one.opinions for one in batch.pairs]

    def close(self) -> None:
        """Nothing is held open."""

    def _traces(self, judged: JudgedPair) -> Iterator[Trace]:
        words = in_other_words([one.part for one in judged.parts])
        none = np.zeros(0, np.int8)
        for number, (one, opinion) in enumerate(zip(judged.parts, judged.opinions, strict=True)):
            name = one.part.asked.entity_type
            if number in words:
                yield Trace(number, name, "words", self.revision, none, 0.0, words[number])
            elif one.state is not None:
                odds = self._rules.stack.log_odds(opinion, judged.pair.entity_type)
                odds = round(odds, TRACE_DECIMALS)
                yield Trace(number, name, opinion.shape, self.revision, one.state, odds)

    def _assessment(self, judged: JudgedPair, snapshot: str) -> Assessment:
        if judged.failure or judged.score is None:
            return self._failed(judged.failure or PairFailure("scorer_failed", "not scored"))
        score, threshold, recall = judged.score
        if not math.isfinite(score):
            return self._failed(PairFailure("score_not_finite", "the stack gave no number"))
        findings = _findings(judged.opinions) + recalled(recall)
        if judged.other:
            score = round(threshold / 2, DECIMALS)
            findings = (judged.other, *findings)[:MAX_FINDINGS]
        seen = {"evidence": _evidence(judged), "memory": recall.trail(snapshot) if recall else None}
        said = Assessment.scored((self.name, self.revision), score, threshold, findings=findings)
        return said.model_copy(update=seen)

    def _failed(self, failure: PairFailure) -> Assessment:
        said = Assessment.failed((self.name, self.revision), failure.reason, failure.detail)
        found = Finding(code=failure.reason, detail=failure.detail[:500])
        return said.model_copy(update={"findings": (found,)})


def revision_of(manifest: ScorerManifest, placement: Placement, packs: Sequence[Pack] = ()) -> str:
    """The revision of the scorer that these make: of its files, a demanded precision, the rules
    and the packs."""
    rules = rules_revision(tuple(pack.name for pack in packs))
    return f"{manifest.revision}{demanded_precision(placement, manifest.precision)}-{rules}"


def _findings(opinions: Sequence[Opinion]) -> tuple[Finding, ...]:
    """Those of parts that differ first: they are why the pair is refused."""
    ordered = sorted(opinions, key=lambda opinion: not opinion.different)
    found = dict.fromkeys(finding for opinion in ordered for finding in opinion.findings)
    return tuple(found)[:MAX_FINDINGS]


def _evidence(judged: JudgedPair) -> Evidence | None:
    """The words of a claim that the reader found no support for, and those that are nowhere in
    what was retrieved, in order; of values there are none."""
    pair = judged.pair
    if pair.entity_type != CLAIM_TYPE or not isinstance(pair.value, str):
        return None
    unfounded = [
        (place.start, place.end) for opinion in judged.opinions for place in opinion.unfounded
    ]
    covered = {at for start, end in unfounded for at in range(start, end)}
    absent = [place for place in pair.absent or () if covered.isdisjoint(range(*place))]
    spans = [UnsupportedSpan(start=a, end=b) for a, b in sorted([*unfounded, *absent])]
    return Evidence(unsupported=tuple(spans[:MAX_UNSUPPORTED])) if spans else None
