"""How many tokens may still be asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import structlog

from .errors import BudgetSpent

log = structlog.get_logger(__name__)

CHARACTERS_PER_TOKEN = 4
"""About so many in European languages, for endpoints that do not say what an answer took."""


@dataclass(slots=True)
class TokenBudget:
    """At most ``limit`` tokens (None: without end), input and output together, of which ``tokens``
    were taken. Thread-safe.

    A call that is under way when the budget is spent is finished and counted.
    """

    limit: int | None
    tokens: int = 0
    told: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def check(self) -> None:
        """Let another call begin. Raises `BudgetSpent`, which is logged once."""
        if self.limit is None or self.tokens < self.limit:
            return
        with self._lock:
            first, self.told = not self.told, True
        if first:
            log.warning("llm_token_budget_spent", budget=self.limit, tokens=self.tokens)
        raise BudgetSpent(f"the budget of {self.limit} tokens is spent")

    def spend(self, tokens: int, characters: int) -> None:
        """Count a call by the ``tokens`` that the endpoint tells, or else by its ``characters``."""
        with self._lock:
            self.tokens += tokens or -(-characters // CHARACTERS_PER_TOKEN)

    def __reduce__(self) -> tuple[type[TokenBudget], tuple[int | None, int, bool]]:
        """Settings go to other processes, which count by themselves; a lock does not."""
        return TokenBudget, (self.limit, self.tokens, self.told)
