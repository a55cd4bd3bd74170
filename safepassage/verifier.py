"""The guardrail as a library: a text and what is said of it in, verdicts out."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from safepassage.schemas import CLAIM_TYPE, Document, Response, stable_id
from safepassage.schemas.base import Json
from safepassage.schemas.realignment import taken_over
from safepassage.schemas.rivals import with_rivals

from .attempts import Attempts
from .documents import document_of
from .extraction import Extraction, as_event
from .extras import missing_extra
from .memory import DEFAULT_REVIEWER, DecisionMemory
from .result import Result
from .settings import JudgingSettings

if TYPE_CHECKING:
    from safepassage.agents.extraction.known_fields import KnownFields
    from safepassage.agents.extraction.schema_loading import SchemaLike
    from safepassage.schemas import Extraction as Event
    from safepassage.schemas import Verdict
    from safepassage.scoring_worker import Scorer

    from .object_check import ObjectCheck, OnFail
    from .pipeline import Results

# The aligner and the scorers bring numpy, torch and more: they come when a verifier is made.
# ruff: noqa: PLC0415

Reask = Callable[[Result], Iterable[Extraction]]
"""Asks the LLM again, with `Result.feedback`; gives what it answered in place of what was
stopped."""
AsyncReask = Callable[[Result], Awaitable[Iterable[Extraction]]]


Checked = TypeVar("Checked")


class Verifier(AbstractContextManager["Verifier"]):
    """Aligns and scores as the stream does. Safe for several threads and tasks, whose pairs
    travel to the scorer together.

    Args:
        scorer: a name ("default"), a folder or a hub id, or a loaded `Scorer`; by default what
            SAFEPASSAGE_SCORER says.
        claim_scorer: the detector that judges claims in the scorer's place ("hallugraph"); by
            default what SAFEPASSAGE_CLAIM_SCORER says. A loaded ``scorer`` judges them itself.
        packs: optional domain knowledge by name; by default what SAFEPASSAGE_PACKS says.
        schema: what the fields of the extractions mean: your pydantic model, the entity types (as a
            mapping each with its description), or the name of either ("cases:Case"); by default
            what SAFEPASSAGE_SCHEMA says. Descriptions, units, allowed values and the fields that
            compete come from it; what an extraction says of its own field stays.
        settings: the other settings that a verdict rests on; by default the environment's.
        memory: what was decided before, as a file (which need not exist, and which each decision
            is written to) or a `DecisionMemory`. Without one `learn` counts until the process ends.

    Raises:
        scoring_worker.ModelError: there is no such scorer, or it is incomplete or altered.
        SchemaError: there is no such schema.
        ValueError: the memory's file was changed, or the scorer has no memory.
        MissingExtra: an extra has to be installed for it.
    """

    def __init__(
        self,
        scorer: str | Path | Scorer | None = None,
        *,
        claim_scorer: str | None = None,
        packs: Sequence[str] | None = None,
        schema: SchemaLike | None = None,
        settings: JudgingSettings | None = None,
        memory: str | Path | DecisionMemory | None = None,
    ) -> None:
        from safepassage.scoring_worker.memory.learning import remembering
        from safepassage.scoring_worker.scorer_spec import ScorerSpec

        from .batches import SharedBatches
        from .pipeline import new_aligner

        configured = settings or JudgingSettings()
        if scorer is None or isinstance(scorer, str | Path):
            named = configured.packs if packs is None else packs
            spec = ScorerSpec.parse(scorer or configured.scorer)
            spec = spec.with_claims_by(claim_scorer or configured.claim_scorer or "")
            scorer = _load(str(spec), tuple(named), configured.strict)
        self._fields = _fields(schema, configured)
        self.scorer: Scorer = scorer
        self.batches = SharedBatches(scorer)
        self._aligner = new_aligner(configured)
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
        document: str | Document | Path,
        extractions: Iterable[Extraction],
        *,
        reask: Reask | None = None,
    ) -> Result:
        """A verdict for each of ``extractions``, which are all that was found in ``document``: a
        text, what `read` gave, or the path of a file, which is read.

        What is given twice is judged once. With ``reask``, where something is stopped, that is
        called once; what it gives takes the place of what was stopped, and is judged together
        with the rest. Its verdicts say ``attempt`` 2, unless the first attempt gave the same.

        Raises:
            TypeError: these are no extractions, or ``document`` is no text. Nothing was judged.
            ValueError: an extraction cannot be one: an empty type, a value that is None or no
                JSON; or the text is no Unicode. Nothing was judged then.
            UnreadableFile: the file gave no document.
        """
        attempts = Attempts(document_of(document), extractions, self._fields)
        first = attempts.first(self._verdicts(attempts.document, attempts.events))
        if reask is None or not first.stopped:
            return first
        events = attempts.again(reask(first))
        return attempts.second(self._verdicts(attempts.document, events))

    async def averify(
        self,
        document: str | Document | Path,
        extractions: Iterable[Extraction],
        *,
        reask: Reask | AsyncReask | None = None,
    ) -> Result:
        """`verify` beside an event loop; ``reask`` may be async. What is cancelled before its
        turn costs nothing."""
        attempts = Attempts(document_of(document), extractions, self._fields)
        first = attempts.first(await self._averdicts(attempts.document, attempts.events))
        if reask is None or not first.stopped:
            return first
        asked: Any = reask(first)
        events = attempts.again(await asked if inspect.isawaitable(asked) else asked)
        return attempts.second(await self._averdicts(attempts.document, events))

    def reverify(self, former: Result, document: str | Document | Path) -> Result:
        """What was accepted in ``former``, judged again in a new version of its document: no LLM is
        asked. `Result.realignments` says what became of each value. Sentences of answers are left
        out.

        Raises:
            TypeError: ``document`` is no text.
            UnreadableFile: the file gave no document.
        """
        said = document_of(document)
        return Result(self._verdicts(said, _taken_over(former, said)), document=said)

    async def areverify(self, former: Result, document: str | Document | Path) -> Result:
        """`reverify` beside an event loop."""
        said = document_of(document)
        return Result(await self._averdicts(said, _taken_over(former, said)), document=said)

    def check(
        self,
        output: Checked,
        document: str | Document | Path,
        *,
        on_fail: OnFail = "drop",
        reask: Callable[[Result], Checked] | None = None,
        skip: Collection[str] = (),
        on_result: Callable[[Result], object] | None = None,
    ) -> Checked:
        """``output``, as far as ``document`` supports it.

        Takes what an LLM filled: a pydantic model or dataclass (see `safepassage.facts` for what
        of it counts as a fact), a list of `Extraction` or of models, langextract's document, or
        what pydantic-ai, instructor or langchain gave. It comes back as it is where everything is
        supported.

        Args:
            output: the object. It is not changed.
            document: as `verify` takes it.
            on_fail: what becomes of a fact that is not accepted, judged unsafe or not judged.
                "drop": None is in its place, or it is gone from its list. "raise":
                `Unsupported`, whose message tells an LLM what to correct. "reask": with ``reask``
                that is called once and gives the whole object anew, of which then is dropped what
                is not accepted; without, `Unsupported` is raised in the form that makes instructor
                (inside a validator) and pydantic-ai (inside an output validator or function) ask
                again by themselves.
            reask: asks the LLM again, with `Result.feedback`.
            skip: paths ("claim.number") of fields that do not come from the document.
            on_result: is given the verdicts.

        Raises:
            TypeError: ``output`` cannot be checked, or a value in it has no quote.
            Unsupported: see ``on_fail``; also where a field that is not supported cannot be None.
            ValueError: an extraction cannot be one.
        """
        if reask is not None and on_fail != "reask":
            raise TypeError('reask goes with on_fail="reask"')
        said = document_of(document)
        then: OnFail = on_fail if reask is None else "drop"
        checking, result, ids = self._checked(output, said, then, skip)
        if reask is not None and result.stopped:
            checking, result, ids = self._checked(_answered(reask(result)), said, then, skip)
        if on_result is not None:
            on_result(result)
        made: Checked = checking.settled(result, ids)
        return made

    async def acheck(
        self,
        output: Checked,
        document: str | Document | Path,
        *,
        on_fail: OnFail = "drop",
        reask: Callable[[Result], Checked] | None = None,
        skip: Collection[str] = (),
        on_result: Callable[[Result], object] | None = None,
    ) -> Checked:
        """`check` beside an event loop, in a thread: so ``reask`` is no coroutine."""
        return await asyncio.to_thread(
            self.check,
            output,
            document,
            on_fail=on_fail,
            reask=reask,
            skip=skip,
            on_result=on_result,
        )

    def _checked(
        self, output: Any, document: Document, on_fail: OnFail, skip: Collection[str]
    ) -> tuple[ObjectCheck, Result, list[str]]:
        """What is checked, the verdicts, and the ids of its extractions in their order."""
        from .object_check import ObjectCheck

        checking = ObjectCheck(output, on_fail, skip)
        result = self.verify(document, checking.extractions)
        ref = document.ref()
        return checking, result, [as_event(one, ref).id for one in checking.extractions]

    def claims(self, context: str | Sequence[str], answer: str, *, id: str | None = None) -> Result:
        """A verdict for each sentence of ``answer``, which was given on ``context``: the
        retrieved text, or the texts in their order. ``id`` names the answer.
        """
        from .pipeline import judge_in_batches

        results, retrieved, idle = _grounded(context, answer, id)
        judged = tuple(judge_in_batches(results, self.batches.assess))
        return Result(judged, without_claim=idle, document=retrieved)

    async def aclaims(
        self, context: str | Sequence[str], answer: str, *, id: str | None = None
    ) -> Result:
        """`claims` beside an event loop."""
        results, retrieved, idle = await asyncio.to_thread(_grounded, context, answer, id)
        return Result(await self._ajudge(results), without_claim=idle, document=retrieved)

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
        return tuple(judge_in_batches(results, self.batches.assess))

    async def _averdicts(self, document: Document, events: Sequence[Event]) -> tuple[Verdict, ...]:
        aligning = self._aligner.submit(document.text, document.ref(), with_rivals(events))
        return await self._ajudge(await asyncio.wrap_future(aligning))

    async def _ajudge(self, results: Results) -> tuple[Verdict, ...]:
        from .pipeline import judge, questions

        pairs = questions(results)
        assessments = await asyncio.wrap_future(self.batches.submit(pairs)) if pairs else []
        return tuple(await asyncio.to_thread(judge, results, assessments))


def _load(name: str, packs: tuple[str, ...], strict: bool) -> Scorer:
    from safepassage.scoring_worker import load_scorer

    try:
        return load_scorer(name, packs=packs, strict=strict)
    except ModuleNotFoundError as error:
        raise missing_extra(error, "llm") or error from None


def _fields(schema: SchemaLike | None, settings: JudgingSettings) -> KnownFields | None:
    if schema is None and not settings.extraction_schema and not settings.entity_types:
        return None
    from safepassage.agents.extraction.known_fields import configured_fields, known_fields

    if schema is not None:
        return known_fields(schema)
    return configured_fields(settings.extraction_schema, settings.entity_types)


def _taken_over(former: Result, document: Document) -> tuple[Event, ...]:
    ref = document.ref()
    facts = (v for v in former.accepted if v.entity_type != CLAIM_TYPE)
    taken = (taken_over(verdict, ref, None) for verdict in facts)
    return tuple({event.id: event for event in taken}.values())


def _answered(output: Any) -> Any:
    if output is None:
        raise TypeError("reask gave None; it has to return the object that the LLM filled again")
    return output


def _grounded(
    context: str | Sequence[str], answer: str, identity: str | None
) -> tuple[Results, Document, int]:
    """The sentences with their passages, the retrieved text, and how many sentences claim
    nothing."""
    from safepassage.agents.claims import sentences_without_claim

    from .pipeline import ground

    passages = context if isinstance(context, str) else list(context)
    parts = [passages] if isinstance(passages, str) else passages
    named = identity or stable_id("response", answer, *parts)
    response = Response(id=named, context=passages, response=answer)
    retrieved = Document(id=response.id, text=response.text)
    return ground(response), retrieved, sentences_without_claim(response)
