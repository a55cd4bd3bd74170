"""A decision model as a scorer: does the passage say this, another value, or nothing of it?

Its score is p(says this); all three probabilities are on the verdict. A question that fails in any
way is an assessment with a failure.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from openai import AsyncOpenAI

from safepassage.llm_calls.client import configured_client
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.decision_caller import DecisionCaller
from safepassage.llm_calls.errors import (
    LLMError,
    LLMMisconfigured,
    LLMTimeout,
    LLMUnavailable,
    first_of,
)
from safepassage.llm_calls.price import priced
from safepassage.llm_calls.retrying import retries_of_judges
from safepassage.llm_calls.settings import DecisionSettings
from safepassage.schemas import Assessment, Reason, Usage, stable_id
from safepassage.scoring_worker.calibration import apply
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest
from safepassage.scoring_worker.risk.groups import below, threshold_of
from safepassage.scoring_worker.scorer import Pair

from .decision_questions import (
    Answers,
    Probabilities,
    asked_digest,
    finding_of,
    instructions_of,
    read_answers,
    request_body,
    text_of,
)
from .llm_grades import GraderMisconfigured

Question = tuple[str, str]
"""The text and the question of a pair: equal ones are asked once."""
Answer = tuple[Probabilities | tuple[Reason, str], Usage]


def decision_manifest(settings: DecisionSettings, name: str = "decisions") -> ScorerManifest:
    """What the model and the question of ``settings`` are as a scorer: threshold .5, and no
    calibration until `calibrate` fits one."""
    return ScorerManifest(
        name=name,
        kind="decisions" if name == "decisions" else "cascade",
        base=settings.model,
        base_digest=stable_id(settings.model, settings.decision_api, asked_digest()),
        labels=0,
        max_length=8_192,
        learnt_from=LearntFrom(),
    )


class DecisionScorer:
    """A `Scorer` that asks a decision model about every pair.

    Raises:
        ModelError: ``manifest`` was fitted to another model or question than ``settings`` name.
    """

    def __init__(self, settings: DecisionSettings, manifest: ScorerManifest | None = None) -> None:
        own = decision_manifest(settings)
        self.manifest = manifest or own
        if self.manifest.base_digest != own.base_digest:
            raise ModelError(
                f"{self.manifest.name} was calibrated for {self.manifest.base}, asked as it was "
                f"then; SAFEPASSAGE_DECISION_MODEL is {settings.model}: set it back or calibrate"
            )
        self.name = self.manifest.name
        self.revision = self.manifest.revision
        self.learnt_from = self.manifest.learnt_from
        self._settings = settings
        self._caller = DecisionCaller(
            settings.decision_api,
            model=settings.model,
            timeout=settings.llm_timeout_seconds,
            retries=retries_of_judges(settings),
        )

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; equal questions are asked once.

        Blocks: it runs an event loop of its own, so the calling thread must not have one.

        Raises:
            GraderMisconfigured: the endpoint refuses every request.
        """
        questions = [(text_of(pair), instructions_of(pair)) for pair in pairs]
        distinct = dict(zip(questions, pairs, strict=True))
        answers = asyncio.run(self._answer_all(distinct))
        return [
            self._assessed(pair, *answers[question])
            for pair, question in zip(pairs, questions, strict=True)
        ]

    def close(self) -> None:
        """Nothing is held open between calls."""

    async def _answer_all(self, asked: dict[Question, Pair]) -> dict[Question, Answer]:
        most = self._settings.llm_concurrency
        limit = AdaptiveLimit(most, overload=LLMUnavailable, initial=most)
        requests = list(_requests(list(asked), self._settings.decision_batch))
        async with configured_client(self._settings) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [
                        group.create_task(self._ask(client, limit, [asked[q] for q in request]))
                        for request in requests
                    ]
            except* GraderMisconfigured as errors:
                raise first_of(errors) from None
        return {
            question: answer
            for request, task in zip(requests, tasks, strict=True)
            for question, answer in zip(request, task.result(), strict=True)
        }

    async def _ask(
        self, client: AsyncOpenAI, limit: AdaptiveLimit, pairs: Sequence[Pair]
    ) -> list[Answer]:
        """The answers to one request; its tokens and its time are shared by its questions."""
        settings, started = self._settings, time.perf_counter()
        body = request_body(settings.decision_api, settings.model, pairs)
        characters = len(str(body))
        if characters > settings.max_grader_characters * len(pairs):
            long: tuple[Reason, str] = ("scorer_failed", "passage and claim are too long")
            return [(long, Usage()) for _ in pairs]
        try:
            settings.token_budget.check()
            read = partial(read_answers, settings.decision_api, questions=len(pairs))
            answers: Answers = await self._caller.ask(client, body, read, limit=limit)
        except LLMMisconfigured as error:
            raise GraderMisconfigured(
                f"the decision model: {error}; check SAFEPASSAGE_DECISION_BASE_URL, "
                "SAFEPASSAGE_DECISION_API, SAFEPASSAGE_DECISION_MODEL and OPENAI_API_KEY"
            ) from None
        except LLMError as error:
            timed_out = isinstance(error, LLMTimeout)
            failed: Reason = "scorer_timeout" if timed_out else "scorer_failed"
            return [((failed, str(error)), self._usage(0, 0, started, 1)) for _ in pairs]
        tokens = answers.input_tokens, answers.output_tokens
        settings.token_budget.spend(sum(tokens), characters)
        usage = self._usage(*tokens, started, len(pairs))
        return [
            (("scorer_failed", found) if isinstance(found, str) else found, usage)
            for found in answers.found
        ]

    def _usage(self, into: int, out_of: int, started: float, questions: int) -> Usage:
        taken = Usage(
            input_tokens=-(-into // questions),
            output_tokens=-(-out_of // questions),
            milliseconds=(time.perf_counter() - started) * 1_000,
        )
        return priced(taken, self._settings)

    def _assessed(
        self, pair: Pair, said: Probabilities | tuple[Reason, str], usage: Usage
    ) -> Assessment:
        by = self.name, self.revision
        if isinstance(said, tuple):
            return Assessment.failed(by, *said, usage)
        raw = np.array([said["says_this"]])
        score = float(apply(self.manifest.calibration, raw)[0])
        threshold = threshold_of(self.manifest.thresholds, pair)
        held = below(score, threshold)
        return Assessment.scored(by, held, threshold, usage, (finding_of(said),))


def _requests(questions: Sequence[Question], most: int) -> Iterator[list[Question]]:
    """``questions`` by request: about one text, at most so many."""
    by_text: dict[str, list[Question]] = {}
    for question in questions:
        by_text.setdefault(question[0], []).append(question)
    for same in by_text.values():
        for start in range(0, len(same), most):
            yield same[start : start + most]
