"""One call of the scorer for all who are waiting: anyone who comes while it works travels next.

Nobody is kept waiting for company. A score does not depend on the batch that its pair travels
in, so who shares a call with whom changes nothing but the time.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from safepassage.schemas import Assessment
from safepassage.scoring_worker import Pair, Scorer

MAX_PAIRS = 512
"""Pairs in one call; a caller with more has calls of their own."""


@dataclass(slots=True)
class _Request:
    pairs: Sequence[Pair]
    answer: Future[list[Assessment]]
    since: float = field(default_factory=time.monotonic)


class SharedBatches:
    """Puts the pairs of several callers, of any thread, to one scorer, one call at a time.

    Args:
        scorer: need not be safe for threads: it works in one.
        observe: told how many pairs travel in each call.
    """

    def __init__(self, scorer: Scorer, observe: Callable[[int], None] = lambda _: None) -> None:
        self._scorer = scorer
        self.observe = observe
        self._waiting: deque[_Request] = deque()
        self._lock = threading.Lock()
        self._working_since: float | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="scorer")

    def submit(self, pairs: Sequence[Pair]) -> Future[list[Assessment]]:
        """One assessment a pair, in order, when they are there.

        The future raises what the scorer raised on these pairs alone, and RuntimeError where it
        gave another number of assessments. A future that was cancelled before its turn is not asked
        about. Raises `RuntimeError` where this was closed."""
        asked = _Request(pairs, Future())
        with self._lock:
            self._waiting.append(asked)
        self._executor.submit(self._next)
        return asked.answer

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """`submit`, waited for."""
        return self.submit(pairs).result()

    @property
    def seconds_waiting(self) -> float:
        """How long the oldest question has waited, or is being answered; 0 without a question."""
        with self._lock:
            since = [asked.since for asked in self._waiting]
            if self._working_since is not None:
                since.append(self._working_since)
        return time.monotonic() - min(since) if since else 0.0

    def close(self) -> None:
        """Stop after the call at hand; what still waits is cancelled. The scorer stays open."""
        with self._lock:
            left = list(self._waiting)
            self._waiting.clear()
        for asked in left:
            asked.answer.cancel()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _next(self) -> None:
        """Answer all who wait, as far as one call goes; the rest have a turn of their own."""
        with self._lock:
            together = self._together()
            self._working_since = min((asked.since for asked in together), default=None)
        try:
            self._answer(together)
        finally:
            with self._lock:
                self._working_since = None

    def _together(self) -> list[_Request]:
        chosen: list[_Request] = []
        pairs = 0
        while self._waiting and (not chosen or pairs + len(self._waiting[0].pairs) <= MAX_PAIRS):
            asked = self._waiting.popleft()
            if asked.answer.set_running_or_notify_cancel():  # whose caller has left is left out
                chosen.append(asked)
                pairs += len(asked.pairs)
        return chosen

    def _answer(self, together: Sequence[_Request]) -> None:
        try:
            answers = iter(self._ask([pair for asked in together for pair in asked.pairs]))
        except Exception as error:  # noqa: BLE001 - it is given to the caller that asked
            # One caller's pairs must not cost another's answer: each by itself.
            if len(together) > 1:
                for asked in together:
                    self._answer([asked])
            elif together:
                together[0].answer.set_exception(error)
            return
        for asked in together:
            asked.answer.set_result([next(answers) for _ in asked.pairs])

    def _ask(self, pairs: Sequence[Pair]) -> list[Assessment]:
        answers: list[Assessment] = []
        for start in range(0, len(pairs), MAX_PAIRS):
            part = pairs[start : start + MAX_PAIRS]
            self.observe(len(part))
            given = self._scorer.assess(part)
            if len(given) != len(part):
                raise RuntimeError(f"{self._scorer.name} gave {len(given)} of {len(part)} scores")
            answers += given
        return answers
