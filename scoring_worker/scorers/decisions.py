"""A decision model as a scorer: does the passage say this, another value, or nothing of it?

Its score is p(says this); all three probabilities are on the verdict. A question that fails in any
way is an assessment with a failure.
"""

from collections.abc import Sequence

import numpy as np
from openai import AsyncOpenAI

from safepassage.llm_calls.caller import Spent
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.decision_request import post_decision
from safepassage.llm_calls.price import priced
from safepassage.llm_calls.retrying import Retrying, Tries, retries_of_judges
from safepassage.llm_calls.settings import DecisionSettings
from safepassage.schemas import Assessment, Usage, stable_id
from safepassage.scoring_worker.calibration import apply
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest
from safepassage.scoring_worker.risk.groups import below, threshold_of
from safepassage.scoring_worker.scorer import Pair

from .decision_questions import (
    Probabilities,
    asked_digest,
    finding_of,
    instructions_of,
    read_answer,
    request_body,
    text_of,
    tokens_of,
)
from .endpoint_questions import TOO_LONG, Failure, answered, ask_all


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
        self._retrying = Retrying(
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
        said = ask_all(self._settings, list(distinct.values()), self._ask)
        answers = dict(zip(distinct, said, strict=True))
        return [
            self._assessed(pair, *answers[question])
            for pair, question in zip(pairs, questions, strict=True)
        ]

    def close(self) -> None:
        """Nothing is held open between calls."""

    async def _ask(
        self, client: AsyncOpenAI, limit: AdaptiveLimit, pair: Pair
    ) -> tuple[Probabilities | Failure, Usage]:
        settings = self._settings
        body = request_body(settings.decision_api, settings.model, pair)
        characters = len(str(body))
        if characters > settings.max_grader_characters:
            return TOO_LONG, Usage()

        async def ask(spent: Spent) -> Probabilities | Failure:
            async def attempt(_tries: Tries) -> Probabilities | Failure:
                spent.check()
                seconds = settings.llm_timeout_seconds
                answer = await post_decision(client, settings.decision_api, body, seconds=seconds)
                spent.add(*tokens_of(answer), characters)
                return read_answer(settings.decision_api, answer)

            return await self._retrying.answer(attempt, limit=limit)

        return await answered(
            settings,
            ask,
            judge="the decision model",
            named_by="SAFEPASSAGE_DECISION_BASE_URL, SAFEPASSAGE_DECISION_API, "
            "SAFEPASSAGE_DECISION_MODEL and OPENAI_API_KEY",
        )

    def _assessed(self, pair: Pair, said: Probabilities | Failure, usage: Usage) -> Assessment:
        by, paid = (self.name, self.revision), priced(usage, self._settings)
        if isinstance(said, tuple):
            return Assessment.failed(by, *said, paid)
        raw = np.array([said["says_this"]])
        score = float(apply(self.manifest.calibration, raw)[0])
        threshold = threshold_of(self.manifest.thresholds, pair)
        held = below(score, threshold)
        return Assessment.scored(by, held, threshold, paid, (finding_of(said),))
