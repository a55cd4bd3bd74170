"""The guardrail as a library: a text and what is said of it in, verdicts out."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safepassage.schemas import Document, Response, stable_id, text_digest
from safepassage.schemas.base import Json
from safepassage.schemas.rivals import with_rivals
from safepassage.scoring_worker.scorer import judge_named

from .attempts import Attempts
from .extraction import Extraction
from .extras import missing_extra
from .memory import DEFAULT_REVIEWER, DecisionMemory
from .result import Result
from .settings import JudgingSettings

if TYPE_CHECKING:
    from safepassage.schemas import Extraction as Event
    from safepassage.schemas import Verdict
    from safepassage.scoring_worker import Scorer

    from .pipeline import Results

# The aligner and the scorers bring numpy, torch and more: they come when a verifier is made.
# ruff: noqa: PLC0415

Reask = Callable[[Result], Iterable[Extraction]]
"""Asks the LLM again, with `Result.feedback`; gives what it answered in place of what was
stopped."""
AsyncReask = Callable[[Result], Awaitable[Iterable[Extraction]]]


class Verifier(AbstractContextManager["Verifier"]):
    """Aligns and scores as the stream does. Safe for several threads and tasks, whose pairs
    travel to the scorer together.

    Args:
        scorer: a name ("default"), a folder or a hub id, or a loaded `Scorer`; by default what
            SAFEPASSAGE_SCORER says.
        claim_scorer: the detector that judges claims in the scorer's place ("hallugraph"); by
            default what SAFEPASSAGE_CLAIM_SCORER says. A loaded ``scorer`` judges them itself.
        packs: optional domain knowledge by name; by default what SAFEPASSAGE_PACKS says.
        settings: the other settings that a verdict rests on; by default the environment's.
        memory: what was decided before, as a file (which need not exist, and which each decision
            is written to) or a `DecisionMemory`. Without one `learn` counts until the process ends.

    Raises:
        scoring_worker.ModelError: there is no such scorer, or it is incomplete or altered.
        ValueError: the memory's file was changed, or the scorer has no memory.
        MissingExtra: an extra has to be installed for it.
    """

    def __init__(
        self,
        scorer: str | Path | Scorer | None = None,
        *,
        claim_scorer: str | None = None,
        packs: Sequence[str] | None = None,
        settings: JudgingSettings | None = None,
        memory: str | Path | DecisionMemory | None = None,
    ) -> None:
        from safepassage.scoring_worker.error_types.verdict_errors import typing_of
        from safepassage.scoring_worker.memory.learning import remembering

        from .batches import SharedBatches
        from .pipeline import new_aligner

        configured = settings or JudgingSettings()
        if scorer is None or isinstance(scorer, str | Path):
            named = configured.packs if packs is None else packs
            by = claim_scorer or configured.claim_scorer
            scorer = _load(judge_named(str(scorer or configured.scorer), by), tuple(named))
        self.scorer: Scorer = scorer
        self.batches = SharedBatches(scorer)
        self._aligner = new_aligner(configured)
        self._type_errors = typing_of(configured.error_types)
        self.memory = memory if isinstance(memory, DecisionMemory) else DecisionMemory(memory)
        if remembers := remembering(scorer):
            self.memory.attach(remembers)
        elif memory is not None:
            raise ValueError(f"scorer {scorer.name!r} has no memory; use 'default', or no memory")

    def learn(
        self,
        verdict: Verdict,
        *,
        supported: bool,
        value: Json = None,
        reviewer: str = DEFAULT_REVIEWER,
    ) -> bool:
        """Let verdicts on values like this one lean on what you decided from now on.

        Args:
            verdict: a verdict of this verifier.
            supported: whether its value is.
            value: the right one in its place, if you know it.
            reviewer: who says so; of several who differ on a case no one counts.

        Returns whether it teaches anything: claims, quotes that were not found, and values that
        contradict their passage teach nothing. `memory.forget` takes it back.

        Raises:
            ValueError: a supported value comes with another, or the scorer has no memory.
        """
        from safepassage.scoring_worker.memory.learning import remembering

        if remembering(self.scorer) is None:
            raise ValueError(f"scorer {self.scorer.name!r} has no memory; use 'default'")
        return self.memory.learn(verdict, supported=supported, value=value, reviewer=reviewer)

    def verify(
        self,
        document: str | Document,
        extractions: Iterable[Extraction],
        *,
        reask: Reask | None = None,
    ) -> Result:
        """A verdict for each of ``extractions``, which are all that was found in ``document``.

        What is given twice is judged once. With ``reask``, where something is stopped, that is
        called once; what it gives takes the place of what was stopped, and is judged together
        with the rest. Its verdicts say ``attempt`` 2, unless the first attempt gave the same.

        Raises:
            ValueError: an extraction cannot be one: an empty type, a value that is None or no
                JSON. Nothing was judged then.
        """
        attempts = Attempts(_document(document), extractions)
        first = attempts.first(self._verdicts(attempts.document, attempts.events))
        if reask is None or not first.stopped:
            return first
        events = attempts.again(reask(first))
        return attempts.second(self._verdicts(attempts.document, events))

    async def averify(
        self,
        document: str | Document,
        extractions: Iterable[Extraction],
        *,
        reask: Reask | AsyncReask | None = None,
    ) -> Result:
        """`verify` beside an event loop; ``reask`` may be async. What is cancelled before its
        turn costs nothing."""
        attempts = Attempts(_document(document), extractions)
        first = attempts.first(await self._averdicts(attempts.document, attempts.events))
        if reask is None or not first.stopped:
            return first
        asked: Any = reask(first)
        events = attempts.again(await asked if inspect.isawaitable(asked) else asked)
        return attempts.second(await self._averdicts(attempts.document, events))

    def claims(
        self,
        context: str | Sequence[str],
        answer: str,
        *,
        id: str | None = None,
    ) -> Result:
        """A verdict for each sentence of ``answer``, which was given on ``context``: the
        retrieved text, or the texts in their order. ``id`` names the answer.
        """
        from safepassage.agents.claims import sentences_without_claim

        from .pipeline import ground, judge_in_batches

        response = _response(context, answer, id)
        judged = judge_in_batches(ground(response), self.batches.assess, self._type_errors)
        return Result(tuple(judged), without_claim=sentences_without_claim(response))

    async def aclaims(
        self,
        context: str | Sequence[str],
        answer: str,
        *,
        id: str | None = None,
    ) -> Result:
        """`claims` beside an event loop."""
        from safepassage.agents.claims import sentences_without_claim

        from .pipeline import ground

        response = _response(context, answer, id)
        results = await asyncio.to_thread(ground, response)
        idle = await asyncio.to_thread(sentences_without_claim, response)
        return Result(await self._ajudge(results), without_claim=idle)

    def close(self) -> None:
        """Stop the threads, after the work at hand, and free the scorer."""
        self._aligner.close()
        self.batches.close()
        self.scorer.close()

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _verdicts(self, document: Document, events: Sequence[Event]) -> tuple[Verdict, ...]:
        from .pipeline import align_all, judge_in_batches

        results = align_all(events, {document.id: document}, self._aligner)
        return tuple(judge_in_batches(results, self.batches.assess, self._type_errors))

    async def _averdicts(self, document: Document, events: Sequence[Event]) -> tuple[Verdict, ...]:
        aligning = self._aligner.submit(document.text, document.ref(), with_rivals(events))
        return await self._ajudge(await asyncio.wrap_future(aligning))

    async def _ajudge(self, results: Results) -> tuple[Verdict, ...]:
        from .pipeline import judge, questions

        pairs = questions(results)
        assessments = await asyncio.wrap_future(self.batches.submit(pairs)) if pairs else []
        return tuple(await asyncio.to_thread(judge, results, assessments, self._type_errors))


def _load(name: str, packs: tuple[str, ...]) -> Scorer:
    from safepassage.scoring_worker import load_scorer

    try:
        return load_scorer(name, packs=packs)
    except ModuleNotFoundError as error:
        raise missing_extra(error, "llm") or error from None


def _document(document: str | Document) -> Document:
    if isinstance(document, Document):
        return document
    return Document(id=text_digest(document), text=document)


def _response(context: str | Sequence[str], answer: str, identity: str | None) -> Response:
    passages = context if isinstance(context, str) else list(context)
    parts = [passages] if isinstance(passages, str) else passages
    named = identity or stable_id("response", answer, *parts)
    return Response(id=named, context=passages, response=answer)
