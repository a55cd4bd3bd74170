"""Who may log in to the review console, and what they may do there."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, IPvAnyNetwork, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from safepassage.schemas.review import MAX_APPROVALS
from safepassage.settings import JudgingSettings, split_names

Role = Literal["reader", "reviewer", "lead"]
"""``reader`` sees; ``reviewer`` decides as well; ``lead`` also promotes scorers, undoes decisions
of others and sees how far reviewers agree."""


class LoginSettings(BaseSettings):
    """The part of the settings that is about people."""

    model_config = SettingsConfigDict(**JudgingSettings.model_config)

    # A token that all share, an OpenID Connect provider, or a header of a trusted proxy.
    console_login: Literal["token", "oidc", "proxy"] = "token"
    console_token: SecretStr | None = None
    # What those may do who share the token.
    console_role: Role = "lead"
    # Whose X-Forwarded-For and -Proto are believed, and with "proxy" the names of people.
    console_proxies: Annotated[tuple[IPvAnyNetwork, ...], NoDecode] = ()
    console_user_header: str | None = None
    console_groups_header: str | None = None
    console_secret_header: str = "X-SafePassage-Secret"  # noqa: S105 - a name
    console_secret: SecretStr | None = None
    # The console as browsers reach it, such as https://review.example.org.
    console_url: str | None = None
    console_oidc_issuer: str | None = None
    console_oidc_client_id: str | None = None
    console_oidc_client_secret: SecretStr | None = None
    console_oidc_scopes: str = "openid profile"
    console_name_claim: str = "preferred_username"
    console_groups_claim: str = "groups"
    # Groups that make a person one of these. Without reader groups everybody else is a reader.
    console_reader_groups: Annotated[tuple[str, ...], NoDecode] = ()
    console_reviewer_groups: Annotated[tuple[str, ...], NoDecode] = ()
    console_lead_groups: Annotated[tuple[str, ...], NoDecode] = ()
    # A file with one subject a line whose sessions are over; read again when it changes.
    console_revoked: Path | None = None
    # The share of cases that two people review who do not see each other's decision.
    console_double_share: float = Field(default=0, ge=0, le=1)
    # So many people decide the same before a value passes that the scorer stopped.
    console_approvals: int = Field(default=1, ge=1, le=MAX_APPROVALS)

    @field_validator(
        "console_proxies",
        "console_reader_groups",
        "console_reviewer_groups",
        "console_lead_groups",
        mode="before",
    )
    @classmethod
    def _split_lists(cls, value: object) -> object:
        return split_names(value)

    @field_validator("console_proxies")
    @classmethod
    def _name_the_proxies(cls, proxies: tuple[IPvAnyNetwork, ...]) -> tuple[IPvAnyNetwork, ...]:
        if any(proxy.prefixlen == 0 for proxy in proxies):
            raise ValueError("a network of all addresses lets every client say who it is")
        return proxies
