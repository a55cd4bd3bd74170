"""Where and how an LLM is asked: declared here, for the extractor, the grader and the detectors."""

from typing import Literal

from pydantic import AliasChoices, Field, PrivateAttr, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from .budget import TokenBudget


class LLMSettings(BaseSettings):
    """``SAFEPASSAGE_*`` of the environment, as far as they are about an LLM.

    Prices are in US dollars per million tokens; without both, costs are unknown.
    """

    model_config = SettingsConfigDict(
        env_prefix="SAFEPASSAGE_", populate_by_name=True, hide_input_in_errors=True, extra="ignore"
    )

    openai_base_url: str = Field(
        default="https://api.openai.com/v1",
        validation_alias=AliasChoices("OPENAI_BASE_URL", "SAFEPASSAGE_OPENAI_BASE_URL"),
    )
    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("OPENAI_API_KEY", "SAFEPASSAGE_OPENAI_API_KEY")
    )
    model: str = "gpt-4.1-mini"
    llm_timeout_seconds: float = Field(default=120, gt=0)
    llm_attempts: int = Field(default=6, ge=1)
    llm_concurrency: int = Field(default=32, ge=1)
    llm_max_tokens: int = Field(default=8_192, ge=1)
    llm_temperature: float = Field(default=0.0, ge=0, le=2)
    llm_input_usd_per_million: float | None = Field(default=None, ge=0)
    llm_output_usd_per_million: float | None = Field(default=None, ge=0)
    llm_token_budget: int | None = Field(default=None, ge=0)

    _token_budget: TokenBudget = PrivateAttr()

    def model_post_init(self, _context: object) -> None:
        self._token_budget = TokenBudget(self.llm_token_budget)

    @property
    def token_budget(self) -> TokenBudget:
        """``llm_token_budget`` and what was taken of it, shared by all that hold these settings."""
        return self._token_budget


class GraderSettings(LLMSettings):
    """For what judges: the grader and the detectors. The model of the extractor is used unless
    another is named."""

    model_config = SettingsConfigDict(frozen=True)

    model: str = Field(
        default="gpt-4.1-mini",
        validation_alias=AliasChoices("SAFEPASSAGE_GRADER_MODEL", "SAFEPASSAGE_MODEL"),
    )
    llm_first_wait_seconds: float = Field(default=0.5, ge=0)
    max_grader_characters: int = Field(default=20_000, ge=1)


class DecisionSettings(GraderSettings):
    """For the scorer `decisions`: an endpoint of its own, or the LLM's.

    ``decision_api`` is the form in which it is asked: ``POST /decisions`` or ``POST /systemone``
    below the address. Prices are those of this model alone: another one's would be a wrong cost.
    """

    openai_base_url: str = Field(
        default="https://api.openai.com/v1",
        validation_alias=AliasChoices(
            "SAFEPASSAGE_DECISION_BASE_URL", "OPENAI_BASE_URL", "SAFEPASSAGE_OPENAI_BASE_URL"
        ),
    )
    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices(
            "SAFEPASSAGE_DECISION_API_KEY", "OPENAI_API_KEY", "SAFEPASSAGE_OPENAI_API_KEY"
        ),
    )
    model: str = Field(
        default="gpt-6-luna", validation_alias=AliasChoices("SAFEPASSAGE_DECISION_MODEL")
    )
    decision_api: Literal["decisions", "systemone"] = "decisions"
    llm_timeout_seconds: float = Field(
        default=30, gt=0, validation_alias=AliasChoices("SAFEPASSAGE_DECISION_TIMEOUT_SECONDS")
    )
    llm_input_usd_per_million: float | None = Field(
        default=None,
        ge=0,
        validation_alias=AliasChoices("SAFEPASSAGE_DECISION_INPUT_USD_PER_MILLION"),
    )
    llm_output_usd_per_million: float | None = Field(
        default=None,
        ge=0,
        validation_alias=AliasChoices("SAFEPASSAGE_DECISION_OUTPUT_USD_PER_MILLION"),
    )
