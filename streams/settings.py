"""Every setting, from the environment: ``SAFEPASSAGE_*`` and four names that others define.

Secrets (`SecretStr`) never appear in a repr, a log line or an error.
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, IPvAnyNetwork, SecretStr, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import NoDecode

from safepassage.llm_calls.settings import DecisionSettings, GraderSettings, LLMSettings
from safepassage.schemas.review import MAX_APPROVALS
from safepassage.settings import FileSettings, split_names

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]


PREFIX = "SAFEPASSAGE_"


def _named(name: str) -> AliasChoices:
    return AliasChoices(name, f"{PREFIX}{name}")


Role = Literal["reader", "reviewer", "lead"]
"""``reader`` sees; ``reviewer`` decides as well; ``lead`` also promotes scorers, undoes decisions
of others and sees how far reviewers agree."""


class Settings(FileSettings, LLMSettings):
    """What a process is told by its environment. Sizes are in bytes or characters, as named."""

    # Review console: who may log in, and what they may do
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

    # Kafka
    kafka_bootstrap_servers: str = Field(
        default="localhost:9092", validation_alias=_named("KAFKA_BOOTSTRAP_SERVERS")
    )
    kafka_security_protocol: SecurityProtocol = "PLAINTEXT"
    kafka_ca_file: str | None = None
    kafka_certificate_file: str | None = None
    kafka_key_file: str | None = None
    kafka_sasl_mechanism: SaslMechanism = "PLAIN"
    kafka_username: str | None = None
    kafka_password: SecretStr | None = None
    # "module:function" of yours that returns a token, for OAUTHBEARER.
    kafka_token_provider: str | None = Field(default=None, pattern=r"^[\w.]+:\w+$")
    # Off for brokers that do not implement it, such as the embedded one.
    kafka_idempotence: bool = True
    # Real Kafka rejects less than 6 s (group.min.session.timeout.ms).
    kafka_session_timeout_seconds: float = Field(default=10, ge=6)
    # Longer than the slowest batch of any role, or a rebalance evicts a busy member.
    kafka_rebalance_timeout_seconds: float = Field(default=300, ge=10)
    # A name that stays with this process when it is started again, such as a StatefulSet's pod. It
    # then keeps its partitions for the session timeout, and its restart is no rebalance.
    kafka_instance: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{1,200}$")
    kafka_fetch_wait_seconds: float = Field(default=0.05, gt=0)
    # JSON in the frame of a Schema Registry's clients, and the schemas registered there.
    schema_registry_url: str | None = Field(
        default=None, pattern="^https?://", validation_alias=_named("SCHEMA_REGISTRY_URL")
    )
    schema_registry_basic_auth_user_info: SecretStr | None = Field(
        default=None, validation_alias=_named("SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO")
    )
    # CloudEvents 1.0 in the headers of every record that is written.
    cloud_events: bool = True
    topic_prefix: str = ""
    group_prefix: str = "safepassage"
    partitions: int = Field(default=8, ge=1)
    # None: three, or as many as there are brokers.
    replication_factor: int | None = Field(default=None, ge=1)

    # Erasure
    # Master keys, 32 bytes in base64 a line: records about documents are sealed where it is set.
    keys_file: Path | None = None
    # Leave `accepted` and `quarantine` readable for consumers without the keys.
    plain_verdicts: bool = False

    # Redis
    redis_url: SecretStr = Field(
        default=SecretStr("redis://localhost:6379/0"), validation_alias=_named("REDIS_URL")
    )
    redis_ca_file: str | None = None
    text_ttl_seconds: int = Field(default=24 * 3600, ge=1)
    local_text_bytes: int = Field(default=64 * 2**20, ge=0)

    # Extraction, beside what `LLMSettings` has
    chunk_characters: int = Field(default=24_000, ge=500)
    chunk_overlap_characters: int = Field(default=1_200, ge=0)
    ask_again: bool = False

    # Scoring, beside what `JudgingSettings` has
    shadow_scorer: str | None = None
    score_batch_records: int = Field(default=512, ge=1)

    # Learning from decisions (`safepassage worker learn`)
    # Where candidates are kept; every score worker has to find them there.
    learn_folder: Path = Path("learnt")
    # New decisions that begin a run, and labels of each class to learn from and to judge by.
    learn_every: int = Field(default=50, ge=1)
    learn_min_labels: int = Field(default=10, ge=2)
    # The share of the documents that judge candidates and teach them nothing.
    learn_held: float = Field(default=0.4, gt=0, lt=1)
    learn_replay: bool = True
    # Labels that the LLM grader is asked for before there are enough decisions; 0: none.
    learn_silver: int = Field(default=0, ge=0)
    # Put a candidate that keeps the bounds into force without asking a person.
    learn_promotes: bool = False
    learn_poll_seconds: float = Field(default=30, gt=0)

    # Roles
    breaker_consecutive: int = Field(default=50, ge=1)
    breaker_ratio: float = Field(default=0.9, gt=0, le=1)
    breaker_window: int = Field(default=200, ge=1)
    publish_patience_seconds: float = Field(default=120, gt=0)
    drain_seconds: float = Field(default=25, gt=0)
    health_host: str = "127.0.0.1"
    health_port: int | None = Field(default=None, ge=0, le=65535)
    stalled_after_seconds: float = Field(default=120, gt=0)
    log_format: Literal["json", "console"] = "json"
    # Spans over OTLP, for OpenTelemetry (extra "otel").
    traces: bool = False
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    # Review console
    console_host: str = "127.0.0.1"
    console_port: int = Field(default=8787, ge=0, le=65535)
    leakage_sample: float = Field(default=0.02, ge=0, le=1)
    # Of what passes without a person at most this share may be wrong; None: nothing is promised.
    risk: float | None = Field(default=None, gt=0, le=0.5)
    risk_confidence: float = Field(default=0.95, gt=0.5, lt=1)
    # How long an undo costs nothing: so late is a decision's effect published.
    console_grace_seconds: float = Field(default=15, ge=0)
    # How long a case stays with a reviewer who does nothing.
    console_lease_seconds: float = Field(default=300, gt=0)
    # A folder that outlives the process; None: the index is built from the topics at every start.
    console_state: Path | None = None

    # Verdicts over HTTP (`safepassage serve`)
    serve_host: str = "127.0.0.1"
    serve_port: int = Field(default=8788, ge=0, le=65535)
    serve_token: SecretStr | None = None
    serve_max_body_bytes: int = Field(default=8 * 2**20, ge=1024)
    serve_concurrency: int = Field(default=64, ge=1)
    serve_queue: int = Field(default=256, ge=0)
    serve_timeout_seconds: float = Field(default=60, gt=0)

    @field_validator("keys_file", mode="before")
    @classmethod
    def _named_file(cls, value: object) -> object:
        if value == "":
            raise ValueError("it is empty: name the file, or leave it unset to seal nothing")
        return value

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

    def topic(self, name: str) -> str:
        return f"{self.topic_prefix}{name}"

    def group(self, role: str) -> str:
        return f"{self.topic_prefix}{self.group_prefix}-{role}"

    def group_instance(self, role: str) -> str | None:
        """Kafka's ``group.instance.id`` in a role's group; None: it is a dynamic member."""
        return f"{self.kafka_instance}-{role}" if self.kafka_instance else None


def unknown_variables(environment: Iterable[str]) -> Iterator[str]:
    """A sentence for each variable that looks like a setting and has no meaning."""
    known = {
        choice
        for kind in (Settings, GraderSettings, DecisionSettings)
        for name, field in kind.model_fields.items()
        for choice in _variables(name, field)
    }
    own = [choice.removeprefix(PREFIX) for choice in known]  # which would make all of them alike
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = get_close_matches(name.removeprefix(PREFIX), own, 1)
            meant = f"; is {PREFIX}{near[0]} meant?" if near else ""
            yield f"{name} is no setting{meant}"


def _variables(name: str, field: FieldInfo) -> Iterator[str]:
    alias = field.validation_alias
    names = alias.choices if isinstance(alias, AliasChoices) else [f"{PREFIX}{name.upper()}"]
    yield from map(str, names)


@lru_cache(maxsize=1)
def settings() -> Settings:
    return Settings()
