"""Error types onto the verdicts of claims that were stopped as unsupported."""

from collections.abc import Callable, Sequence
from typing import Literal

import structlog

from safepassage.schemas import CLAIM_TYPE, Verdict
from safepassage.scoring_worker.manifest import ModelError

from .contract import ErrorTyper, StoppedClaim

log = structlog.get_logger(__name__)

TyperName = Literal["none", "local", "llm"]
TypeVerdicts = Callable[[Sequence[Verdict]], list[Verdict]]


def load_typer(name: TyperName) -> ErrorTyper | None:
    """The typer of that name; None for "none".

    Raises:
        ModelError: the weights of "local" are missing or malformed.
    """
    if name == "none":
        return None
    if name == "local":
        from .local import LocalTyper  # noqa: PLC0415 (its weights)

        return LocalTyper.load()
    from .llm import LLMTyper  # noqa: PLC0415 (openai is slow to import)

    return LLMTyper()


def typing_of(name: TyperName) -> TypeVerdicts | None:
    """What puts types onto verdicts, or None where nobody wants any."""
    typer = load_typer(name)
    return None if typer is None else lambda verdicts: with_error_types(verdicts, typer)


def with_error_types(verdicts: Sequence[Verdict], typer: ErrorTyper) -> list[Verdict]:
    """``verdicts`` in order; those of stopped claims with their types. Blocks.

    Nothing that a typer does stops a verdict: what it cannot type stays untyped.
    """
    asked = {at: stopped for at, verdict in enumerate(verdicts) if (stopped := _stopped(verdict))}
    if not asked:
        return list(verdicts)
    try:
        found = typer.type_errors(list(asked.values()))
    except ModelError as error:
        log.warning("error_types_unavailable", error=str(error))
        return list(verdicts)
    typed = dict(zip(asked, found, strict=True))
    return [
        verdict.model_copy(update={"error_types": typed[at]}) if typed.get(at) else verdict
        for at, verdict in enumerate(verdicts)
    ]


def _stopped(verdict: Verdict) -> StoppedClaim | None:
    alignment = verdict.alignment
    wanted = verdict.entity_type == CLAIM_TYPE and "unsupported" in verdict.reasons
    if not wanted or alignment is None or not alignment.found:
        return None
    return StoppedClaim(str(verdict.value), alignment.passage)
