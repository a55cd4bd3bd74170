"""The LLM as a scorer: asked our own question, or as a published verifier was taught.

Its score is the probability that it says yes, where the endpoint tells log-probabilities; else 1.0
or 0.0. A call that fails in any way is an assessment with a failure.
"""

import asyncio
from collections.abc import Sequence

from openai import AsyncOpenAI

from safepassage.llm_calls.client import configured_client
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import LLMUnavailable, first_of
from safepassage.llm_calls.price import priced
from safepassage.llm_calls.retrying import retries_of_judges
from safepassage.llm_calls.settings import GraderSettings
from safepassage.schemas import Assessment, stable_id
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.scorer import Pair

from .llm_forms import OWN, LLMForm
from .llm_grades import ALTERNATIVES, Asking, GradeFailed, GraderMisconfigured

THRESHOLD = 0.5
CONTROL = "The kettle in the kitchen is red.", "Rent: 4,000 euros a month"
"""A source and a statement that it does not support."""
DECIMALS = 6
VERSION = "2"
"""Of how an answer becomes a score."""


class LLMGrader:
    """A `Scorer` that asks an OpenAI-compatible endpoint about every pair, in ``form``."""

    learnt_from = LearntFrom()  # of what is labelled here: nothing

    def __init__(self, settings: GraderSettings, name: str = "llm", form: LLMForm = OWN) -> None:
        self.name = name
        self._settings = settings
        self._controlled = not form.controlled
        self._asking = Asking(
            form=form,
            model=settings.model,
            timeout=settings.llm_timeout_seconds,
            retries=retries_of_judges(settings),
            budget=settings.token_budget,
            options={
                "temperature": settings.llm_temperature,
                "max_tokens": settings.llm_max_tokens,
                # An endpoint that knows neither refuses them, and is asked without.
                "logprobs": True,
                "top_logprobs": ALTERNATIVES,
            },
        )
        self.revision = stable_id("llm", settings.model, form.digest, VERSION)[:16]
        self._by = self.name, self.revision

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; equal pairs are asked once.

        Blocks: it runs an event loop of its own, so the calling thread must not have one.

        Raises:
            GraderMisconfigured: the endpoint refuses every request, or does not read the source.
        """
        distinct = list(dict.fromkeys((pair.premise, pair.hypothesis) for pair in pairs))
        answers = dict(zip(distinct, asyncio.run(self._answer_all(distinct)), strict=True))
        return [answers[pair.premise, pair.hypothesis] for pair in pairs]

    def close(self) -> None:
        """Nothing is held open between calls."""

    async def _answer_all(self, questions: Sequence[tuple[str, str]]) -> list[Assessment]:
        settings = self._settings
        concurrency = settings.llm_concurrency
        limit = AdaptiveLimit(concurrency, overload=LLMUnavailable, initial=concurrency)
        async with configured_client(settings) as client:
            if failure := await self._uncontrolled(client, limit):
                return [self._failed(failure) for _ in questions]

            async def answer(premise: str, hypothesis: str) -> Assessment:
                return await self._answer(client, limit, premise, hypothesis)

            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(answer(*question)) for question in questions]
            except* GraderMisconfigured as errors:
                raise first_of(errors) from None
        return [task.result() for task in tasks]

    async def _uncontrolled(self, client: AsyncOpenAI, limit: AdaptiveLimit) -> GradeFailed | None:
        """See once that the endpoint judges by the source, where it may ignore the source; why that
        is not known yet.

        Raises:
            GraderMisconfigured: it accepts what no source says.
        """
        if self._controlled:
            return None
        try:
            score, _ = await self._asking.ask(client, *CONTROL, limit=limit)
        except GradeFailed as failure:
            return failure
        if score >= THRESHOLD:
            raise GraderMisconfigured(
                f"the endpoint accepts what its source does not say: it does not hand the source "
                f"of {self.name} to the chat template (chat_template_kwargs)"
            )
        self._controlled = True
        return None

    async def _answer(
        self, client: AsyncOpenAI, limit: AdaptiveLimit, premise: str, hypothesis: str
    ) -> Assessment:
        if len(premise) + len(hypothesis) > self._settings.max_grader_characters:
            return self._failed(GradeFailed("scorer_failed", "passage and claim are too long"))
        try:
            score, usage = await self._asking.ask(client, premise, hypothesis, limit=limit)
        except GradeFailed as failure:
            return self._failed(failure)
        paid = priced(usage, self._settings)
        return Assessment.scored(self._by, round(score, DECIMALS), THRESHOLD, paid)

    def _failed(self, failure: GradeFailed) -> Assessment:
        usage = priced(failure.usage, self._settings)
        return Assessment.failed(self._by, failure.reason, str(failure), usage)
