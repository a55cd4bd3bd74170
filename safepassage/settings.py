"""The settings that a verdict rests on: the same for a call, a file and the stream."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from safepassage.agents.alignment_thresholds import STREAM_THRESHOLD


class JudgingSettings(BaseSettings):
    """``SAFEPASSAGE_*`` of the environment, as far as they can change a verdict."""

    model_config = SettingsConfigDict(
        env_prefix="SAFEPASSAGE_", populate_by_name=True, hide_input_in_errors=True, extra="ignore"
    )

    # What the fields of extractions mean: "module:Class", a JSON file, or entity types alone
    extraction_schema: str | None = Field(
        default=None,
        validation_alias=AliasChoices("SAFEPASSAGE_SCHEMA", "SAFEPASSAGE_EXTRACTION_SCHEMA"),
    )
    entity_types: Annotated[tuple[str, ...], NoDecode] = ()

    # Alignment
    alignment_threshold: float = Field(default=STREAM_THRESHOLD, ge=0, le=1)
    max_document_characters: int = Field(default=500_000, ge=1)
    max_context_characters: int = Field(default=5_000, ge=1)

    # Scoring
    scorer: str = "default"
    # The detector that judges claims in the scorer's place: "hallugraph", "ragulator".
    claim_scorer: str | None = None
    packs: Annotated[tuple[str, ...], NoDecode] = ()
    # Whether a doubt that decides nothing else makes a value a person's case.
    strict: bool = False

    @property
    def judge(self) -> str:
        """The name that `load_scorer` takes: `scorer`, with `claim_scorer` for claims."""
        if not self.claim_scorer:
            return self.scorer
        from .scoring_worker.scorer_spec import ScorerSpec  # noqa: PLC0415 (brings logs)

        return str(ScorerSpec.parse(self.scorer).with_claims_by(self.claim_scorer))

    @field_validator("packs", "entity_types", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return split_names(value)


class FileSettings(JudgingSettings):
    """The same, with what bounds the reading of files."""

    # Files
    # The folder below which originals lie; the console shows pages of no other file.
    originals: Path | None = None
    ocr: Literal["needed", "always", "never"] = "needed"
    max_file_bytes: int = Field(default=100 * 2**20, ge=1)
    max_file_pages: int = Field(default=2_000, ge=1, le=10_000)
    max_ocr_pages: int = Field(default=200, ge=0)
    file_seconds: float = Field(default=600, gt=0)
    file_memory_bytes: int = Field(default=4 * 2**30, ge=256 * 2**20)
    max_record_bytes: int = Field(default=8 * 2**20, ge=2**16)


def split_names(value: object) -> object:
    """A setting of several names: "a, b" is ("a", "b")."""
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return value
