"""The LLM as a scorer: it reasons, then says "supports" or "insufficient".

Its score is 1.0 or 0.0: a label, not a probability. A call that fails in any way is an
assessment with a failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from openai import AsyncOpenAI
from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from safepassage.llm_calls.client import configured_client
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import LLMUnavailable, first_of
from safepassage.llm_calls.price import priced
from safepassage.schemas import Assessment, ScorerTrail, Usage, stable_id
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.scorer import Pair

from .llm_grades import Asking, GradeFailed, GraderMisconfigured
from .llm_prompt import Grade, prompt_digest

THRESHOLD = 0.5
SCORES = {"supports": 1.0, "insufficient": 0.0}


class GraderSettings(BaseSettings):
    """Where and how the grader asks. The model of the extractor is used unless another is named.

    Prices are in US dollars per million tokens; without both, costs are unknown.
    """

    model_config = SettingsConfigDict(
        env_prefix="SAFEPASSAGE_", frozen=True, extra="ignore", populate_by_name=True
    )

    openai_base_url: str = Field(
        default="https://api.openai.com/v1",
        validation_alias=AliasChoices("OPENAI_BASE_URL", "SAFEPASSAGE_OPENAI_BASE_URL"),
    )
    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("OPENAI_API_KEY", "SAFEPASSAGE_OPENAI_API_KEY"),
    )
    model: str = Field(
        default="gpt-4.1-mini",
        validation_alias=AliasChoices("SAFEPASSAGE_GRADER_MODEL", "SAFEPASSAGE_MODEL"),
    )
    llm_timeout_seconds: float = Field(default=120, gt=0)
    llm_attempts: int = Field(default=6, ge=1)
    llm_concurrency: int = Field(default=32, ge=1)
    llm_first_wait_seconds: float = Field(default=0.5, ge=0)
    llm_input_usd_per_million: float | None = Field(default=None, ge=0)
    llm_output_usd_per_million: float | None = Field(default=None, ge=0)
    max_grader_characters: int = Field(default=20_000, ge=1)


class LLMGrader:
    """A `Scorer` that asks an OpenAI-compatible endpoint about every pair."""

    name = "llm"
    learnt_from = LearntFrom()  # of what is labelled here: nothing

    def __init__(self, settings: GraderSettings) -> None:
        self._settings = settings
        self._asking = Asking(
            model=settings.model,
            timeout=settings.llm_timeout_seconds,
            attempts=settings.llm_attempts,
            first_wait=settings.llm_first_wait_seconds,
        )
        self.revision = stable_id("llm", settings.model, prompt_digest())[:16]

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; equal pairs are asked once.

        Blocks: it runs an event loop of its own, so the calling thread must not have one.

        Raises:
            GraderMisconfigured: the endpoint refuses every request.
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

            async def answer(premise: str, hypothesis: str) -> Assessment:
                return await self._answer(client, limit, premise, hypothesis)

            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(answer(*question)) for question in questions]
            except* GraderMisconfigured as errors:
                raise first_of(errors) from None
        return [task.result() for task in tasks]

    async def _answer(
        self, client: AsyncOpenAI, limit: AdaptiveLimit, premise: str, hypothesis: str
    ) -> Assessment:
        if len(premise) + len(hypothesis) > self._settings.max_grader_characters:
            return self._failed(GradeFailed("scorer_failed", "passage and claim are too long"))
        try:
            grade, usage = await self._asking.ask(client, premise, hypothesis, limit=limit)
        except GradeFailed as failure:
            return self._failed(failure)
        return self._graded(grade, priced(usage, self._settings))

    def _graded(self, grade: Grade, usage: Usage) -> Assessment:
        score = SCORES[grade.label]
        trail = ScorerTrail(
            scorer=self.name,
            revision=self.revision,
            score=score,
            threshold=THRESHOLD,
            usage=usage,
        )
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            score=score,
            threshold=THRESHOLD,
            trail=(trail,),
        )

    def _failed(self, failure: GradeFailed) -> Assessment:
        trail = ScorerTrail(
            scorer=self.name,
            revision=self.revision,
            score=None,
            threshold=None,
            failure=str(failure),
            usage=priced(failure.usage, self._settings),
        )
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            failure=failure.reason,
            failure_detail=str(failure),
            trail=(trail,),
        )
