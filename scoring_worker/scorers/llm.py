"""The LLM as a scorer: asked our own question, or as a published verifier was taught.

Its score is the probability that it says yes, where the endpoint tells log-probabilities; else 1.0
or 0.0. A call that fails in any way is an assessment with a failure.
"""

from collections.abc import Sequence
from functools import partial

from openai import AsyncOpenAI

from safepassage.llm_calls.caller import Caller
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.price import priced
from safepassage.llm_calls.retrying import retries_of_judges
from safepassage.llm_calls.settings import GraderSettings
from safepassage.schemas import Assessment, Usage, stable_id
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.scorer import Pair

from .endpoint_questions import TOO_LONG, Failure, GraderMisconfigured, answered, ask_all
from .llm_forms import ALTERNATIVES, OWN, LLMForm, grade

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
        self._form = form
        self._controlled = not form.controlled
        self._caller = Caller(
            model=settings.model,
            timeout=settings.llm_timeout_seconds,
            retries=retries_of_judges(settings),
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
        if failed := self._uncontrolled():
            return [self._assessed(*failed) for _ in pairs]
        distinct = list(dict.fromkeys((pair.premise, pair.hypothesis) for pair in pairs))
        said = ask_all(self._settings, distinct, self._ask)
        answers = dict(zip(distinct, (self._assessed(*one) for one in said), strict=True))
        return [answers[pair.premise, pair.hypothesis] for pair in pairs]

    def close(self) -> None:
        """Nothing is held open between calls."""

    def _uncontrolled(self) -> tuple[Failure, Usage] | None:
        """See once that the endpoint judges by the source, where it may ignore the source; why that
        is not known yet.

        Raises:
            GraderMisconfigured: it accepts what no source says.
        """
        if self._controlled:
            return None
        [(said, usage)] = ask_all(self._settings, [CONTROL], self._ask)
        if isinstance(said, tuple):
            return said, usage
        if said >= THRESHOLD:
            raise GraderMisconfigured(
                f"the endpoint accepts what its source does not say: it does not hand the source "
                f"of {self.name} to the chat template (chat_template_kwargs)"
            )
        self._controlled = True
        return None

    async def _ask(
        self, client: AsyncOpenAI, limit: AdaptiveLimit, texts: tuple[str, str]
    ) -> tuple[float | Failure, Usage]:
        if sum(map(len, texts)) > self._settings.max_grader_characters:
            return TOO_LONG, Usage()
        question, read = self._form.question(*texts), partial(grade, self._form)
        return await answered(
            self._settings,
            lambda spent: self._caller.ask(client, question, read, limit=limit, spent=spent),
            judge="the grader",
            named_by="OPENAI_BASE_URL, OPENAI_API_KEY and SAFEPASSAGE_GRADER_MODEL",
        )

    def _assessed(self, said: float | Failure, usage: Usage) -> Assessment:
        paid = priced(usage, self._settings)
        if isinstance(said, tuple):
            return Assessment.failed(self._by, *said, paid)
        return Assessment.scored(self._by, round(said, DECIMALS), THRESHOLD, paid)
