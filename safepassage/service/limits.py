"""How much one request, and all of them together, may take."""

from dataclasses import dataclass

MAX_EXTRACTIONS = 2_000
MAX_ANSWER_CHARACTERS = 100_000
MAX_PASSAGES = 1_000
MIN_TOKEN_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """``body_bytes`` a request; ``concurrency`` requests are answered at once, ``queue`` more wait
    for their turn, and further callers are asked to come back; ``timeout_seconds`` from a request's
    first byte to its answer; after ``stalled_seconds`` of waiting for the scorer the process calls
    itself unhealthy."""

    body_bytes: int = 8 * 2**20
    concurrency: int = 64
    queue: int = 256
    timeout_seconds: float = 60.0
    stalled_seconds: float = 120.0
