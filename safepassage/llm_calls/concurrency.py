"""How many calls to an LLM endpoint may be under way at once."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class AdaptiveLimit:
    """A window of concurrent calls: additive increase, multiplicative decrease.

    Each window of calls that succeed widens it by one, up to ``maximum``; a call that ends in
    ``overload`` halves it, down to one. Calls that started before the last halving do not halve it
    again. Waiting callers are served in the order they came. ``progress`` counts the tokens of all
    calls: a call that gets none while it grows waits for its turn at the endpoint. Under
    ``before_the_first`` the endpoint is asked how many calls it takes.
    """

    def __init__(self, maximum: int, *, overload: type[Exception], initial: int = 4) -> None:
        if maximum < 1 or initial < 1:
            raise ValueError("a window has room for at least one call")
        self._maximum = maximum
        self._overload = overload
        self._window = float(min(initial, maximum))
        self._active = 0
        self._epoch = 0
        self._widens_at = 0.0
        self._rests_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.progress = 0
        self.before_the_first = asyncio.Lock()

    @property
    def window(self) -> int:
        """Calls that may be under way at once, now."""
        return int(self._window)

    @property
    def active(self) -> int:
        """Calls under way."""
        return self._active

    def bound(self, calls: int) -> None:
        """Never have more than ``calls`` under way: what the endpoint says it works on at once."""
        self._maximum = min(self._maximum, calls)
        self._window = min(self._window, self._maximum)

    def hold(self, seconds: float) -> None:
        """Let the window be no wider for a while: what it has is what the endpoint can do."""
        self._widens_at = time.monotonic() + seconds

    def rest(self, seconds: float) -> None:
        """Begin no call for a while: the endpoint asked for it."""
        self._rests_until = max(self._rests_until, time.monotonic() + seconds)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Waits for room, and learns from how the block ends."""
        await self._acquire()
        epoch = self._epoch
        try:
            await asyncio.sleep(max(0.0, self._rests_until - time.monotonic()))
            yield
        except self._overload:
            self._shrink(epoch)
            raise
        else:
            if time.monotonic() >= self._widens_at:
                self._window = min(self._maximum, self._window + 1 / self._window)
        finally:
            self._active -= 1
            self._wake()

    async def _acquire(self) -> None:
        if self._active < self.window and not self._waiting:
            self._active += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._give_up(turn)
            raise

    def _give_up(self, turn: asyncio.Future[None]) -> None:
        if turn in self._waiting:
            self._waiting.remove(turn)
        elif not turn.cancelled():  # cancelled after its turn had come: pass the place on
            self._active -= 1
            self._wake()

    def _shrink(self, epoch: int) -> None:
        if epoch == self._epoch:
            self._window = max(1.0, self._window / 2)
            self._epoch += 1

    def _wake(self) -> None:
        while self._waiting and self._active < self.window:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self._active += 1
                turn.set_result(None)
