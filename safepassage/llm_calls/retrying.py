"""Calls that are made again until they are answered or cannot be, in a window of calls."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog

from .concurrency import AdaptiveLimit
from .errors import LLMError, LLMTimeout, LLMUnavailable, Malformed, SchemaMismatch
from .settings import GraderSettings

log = structlog.get_logger(__name__)

A = TypeVar("A")

Within = Callable[[float], AbstractContextManager[object]]

_JITTER: Final = 1.25
_HOLD: Final = 10
"""Timeouts for which a window stays as narrow as the endpoint made it."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """``attempts`` in all, as long as those that failed took less than ``budget`` seconds together
    (None: however long); waits grow, with jitter.

    ``max_wait`` also bounds a Retry-After, so that an endpoint cannot park a worker. ``retried``
    are the errors that may pass.
    """

    attempts: int = 6
    budget: float | None = 600.0
    first_wait: float = 0.5
    max_wait: float = 60.0
    retried: tuple[type[LLMError], ...] = (LLMUnavailable,)

    def wait(self, error: LLMError, failures: int = 1) -> float:
        """Seconds before the attempt that follows on ``failures``, the last of them ``error``."""
        retry_after = error.retry_after if isinstance(error, LLMUnavailable) else None
        if retry_after is None:
            wait = self.first_wait * (2.0 ** (failures - 1) + random.random())
            return min(wait, self.max_wait)
        # The jitter keeps callers that were told the same from coming back at the same time.
        return min(retry_after, self.max_wait) * random.uniform(1.0, _JITTER)


def retries_of_judges(settings: GraderSettings) -> RetryPolicy:
    """For short answers: one in a form that was not asked for may be a better one the next time."""
    return RetryPolicy(
        attempts=settings.llm_attempts,
        budget=None,
        first_wait=settings.llm_first_wait_seconds,
        retried=(LLMUnavailable, Malformed, SchemaMismatch),
    )


@dataclass(slots=True)
class Tries:
    """What was tried with one question. ``silent`` are the tries that ended without a token;
    ``turns`` those of them while the endpoint worked on other calls."""

    failures: int = 0
    failed_seconds: float = 0.0
    silent: int = 0
    turns: int = 0


class Retrying:
    """Makes calls again as ``retries`` say.

    A call that gets no token in time while others do waits for its turn: the window of calls
    narrows, the call is made again, and that counts as no failure.

    Args:
        timeout: seconds that the endpoint is given; for ten times that a narrowed window is held.
        within: entered with the seconds that a pause may take: anyone who watches over this process
            can tell waiting from hanging.
        told: hears in a sentence, without any text of the question or the answer, of each call that
            will be made again.
    """

    def __init__(
        self,
        *,
        model: str,
        timeout: float,
        retries: RetryPolicy,
        within: Within = nullcontext,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self._model = model
        self._timeout = timeout
        self._retries = retries
        self._within = within
        self._told = told

    async def answer(self, attempt: Callable[[Tries], Awaitable[A]], *, limit: AdaptiveLimit) -> A:
        """What ``attempt`` gives; it is called in a slot of ``limit``, once or several times.
        Raises `LLMError`, the last attempt's."""
        tries = Tries()
        while True:
            started = time.monotonic()
            try:
                async with limit.slot():
                    started = time.monotonic()
                    return await attempt(tries)
            except self._retries.retried as error:
                tries.failed_seconds += time.monotonic() - started
                await self._pause(error, tries, limit)

    async def _pause(self, error: LLMError, tries: Tries, limit: AdaptiveLimit) -> None:
        """Wait until the question may be asked again; raises ``error`` where it may not."""
        attempts = self._retries.attempts
        if isinstance(error, LLMTimeout) and error.passed_over and tries.turns < attempts:
            tries.turns += 1
            limit.hold(_HOLD * self._timeout)
            self._tell(error, f"asked again in its turn, {limit.window} at once")
            return
        tries.failures += 1
        budget = self._retries.budget
        if tries.failures >= attempts or (budget and tries.failed_seconds >= budget):
            raise error
        seconds = self._retries.wait(error, tries.failures)
        if isinstance(error, LLMUnavailable) and error.retry_after is not None:
            limit.rest(seconds)
        self._tell(error, f"attempt {tries.failures + 1} of {attempts} in {seconds:.0f} s")
        with self._within(seconds + 1):
            await asyncio.sleep(seconds)

    def _tell(self, error: LLMError, then: str) -> None:
        log.warning("llm_asked_again", model=self._model, error=str(error), then=then)
        if self._told:
            self._told(f"{error}; {then}")
