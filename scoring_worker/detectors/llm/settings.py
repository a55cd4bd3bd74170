"""Where and how these detectors ask: as the grader does, with kept answers and a budget."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from safepassage.scoring_worker.scorers.llm import GraderSettings


class LLMSettings(GraderSettings):
    """The grader's endpoint, model, prices, retries and window of calls, and what is ours.

    ``llm_answers`` is a file of kept answers (`safepassage.llm_calls.answer_cache`).
    ``llm_token_budget`` ends the asking after so many tokens of this process, input and output
    together: what was not asked is undetermined. ``llm_samples`` are the further answers that
    SelfCheckGPT draws where an answer comes without any.
    """

    model_config = SettingsConfigDict(
        env_prefix="SAFEPASSAGE_", frozen=True, extra="ignore", populate_by_name=True
    )

    llm_answers: Path | None = None
    llm_token_budget: int | None = Field(default=None, ge=0)
    llm_samples: int = Field(default=5, ge=1, le=50)
    max_prompt_characters: int = Field(default=200_000, ge=1)

    @classmethod
    def of(cls, given: GraderSettings | None) -> Self:
        """``given`` with our own fields from the environment; all of it where that is None."""
        if given is None:
            return cls()
        if isinstance(given, cls):
            return given
        return cls(**given.model_dump())
