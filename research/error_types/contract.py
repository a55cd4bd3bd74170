"""What an error typer is asked and answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from safepassage.schemas.error_type import ErrorTyping


@dataclass(frozen=True, slots=True)
class StoppedClaim:
    """A claim that its passage does not support."""

    claim: str
    passage: str


class ErrorTyper(Protocol):
    """Blocks; one answer per claim in order, None where it has none."""

    def type_errors(self, claims: Sequence[StoppedClaim]) -> list[ErrorTyping | None]: ...
