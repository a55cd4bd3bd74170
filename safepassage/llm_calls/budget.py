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
class TokenCount:
    """Tokens that were taken so far, input and output together. Thread-safe."""

    tokens: int = 0
    told: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, tokens: int) -> None:
        """Count what an answer took."""
        with self._lock:
            self.tokens += tokens

    def tell_once(self) -> bool:
        """Whether nobody told yet that the budget is spent."""
        with self._lock:
            first, self.told = not self.told, True
        return first

    def __reduce__(self) -> tuple[type[TokenCount], tuple[int, bool]]:
        """Settings go to other processes, which count by themselves; a lock does not."""
        return TokenCount, (self.tokens, self.told)


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """At most ``limit`` tokens (None: without end), of which ``count`` were taken.

    A call that is under way when the budget is spent is finished and counted.
    """

    limit: int | None
    count: TokenCount

    def check(self) -> None:
        """Let another call begin.

        Raises:
            BudgetSpent: the budget is spent; that is logged once.
        """
        if self.limit is None or self.count.tokens < self.limit:
            return
        if self.count.tell_once():
            log.warning("llm_token_budget_spent", budget=self.limit, tokens=self.count.tokens)
        raise BudgetSpent(f"the budget of {self.limit} tokens is spent")

    def spend(self, tokens: int, characters: int) -> None:
        """Count a call by the ``tokens`` that the endpoint tells, or else by its ``characters``."""
        self.count.add(tokens or -(-characters // CHARACTERS_PER_TOKEN))
