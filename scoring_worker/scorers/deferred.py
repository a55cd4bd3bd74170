"""A scorer whose weights are read when its first pair comes."""

import threading
from collections.abc import Callable, Sequence

from safepassage.schemas import Assessment
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.memory.index import NO_MEMORY, Memory
from safepassage.scoring_worker.memory.learning import remember_in, traces_of
from safepassage.scoring_worker.memory.states import Trace
from safepassage.scoring_worker.scorer import Pair, Scorer


class Deferred:
    """Represents the scorer that ``load`` gives, which is called once, at the first pair. Safe for
    several threads.

    ``name``, ``revision`` and ``learnt_from`` are what its verified manifest says beforehand: what
    is loaded must say the same.
    """

    def __init__(
        self, name: str, revision: str, learnt_from: LearntFrom | None, load: Callable[[], Scorer]
    ) -> None:
        self.name = name
        self.revision = revision
        self.learnt_from = learnt_from
        self._load = load
        self._loaded: Scorer | None = None
        self._memory = NO_MEMORY
        self._lock = threading.Lock()

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order.

        Raises:
            ModelError: its files were removed or altered since this was made.
        """
        return list(self._scorer().assess(pairs)) if pairs else []

    def remember(self, memory: Memory) -> None:
        """Weigh what ``memory`` holds from the next batch on."""
        with self._lock:
            self._memory = memory
            if self._loaded is not None:
                remember_in(memory, self._loaded)

    def traces(self, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
        """What each pair would leave in a memory, by part, in order. Loads the scorer.

        Raises:
            ModelError: its files were removed or altered since this was made.
        """
        return traces_of(self._scorer(), pairs) if pairs else []

    def close(self) -> None:
        """Close the scorer, where it was loaded."""
        with self._lock:
            if self._loaded is not None:
                self._loaded.close()

    def _scorer(self) -> Scorer:
        with self._lock:
            if self._loaded is None:
                loaded = self._load()
                if loaded.revision != self.revision:
                    raise ModelError(
                        f"{self.name} was altered while it was in use; restart this process"
                    )
                remember_in(self._memory, loaded)
                self._loaded = loaded
            return self._loaded
