"""How a recorded LLM misbehaves on request, so that the way around an LLM can be tested."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """One way in which an endpoint or a model goes wrong."""

    RATE_LIMIT = "rate_limit"  # 429 with Retry-After
    SERVER_ERROR = "server_error"  # 500
    HANG = "hang"  # nothing, until the client leaves or ``hang_seconds`` are over
    DRIP = "drip"  # the right answer, a byte every ``drip_seconds``
    GARBAGE = "garbage"  # 200 with a proxy's page in place of a completion
    OVERSIZED = "oversized"  # 200 with 64 MiB
    NO_JSON_SCHEMA = "no_json_schema"  # 400 to a ``json_schema``; a ``json_object`` is answered
    MALFORMED = "malformed"  # an answer that is not JSON
    MISMATCH = "mismatch"  # an answer that is JSON of another shape
    TRUNCATED = "truncated"  # finish_reason "length"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"


TRANSIENT = (Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.HANG, Fault.DRIP, Fault.GARBAGE)
"""Faults that the same request may not meet again: a client that retries gets its answer."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Which requests go wrong, and how.

    Request number n (from 0) meets ``plan[n]``, None being no fault. After the plan a request
    goes wrong with probability ``rate``, in one of ``kinds``; that depends on ``seed`` and n
    alone. ``retry_after``, ``hang_seconds`` and ``drip_seconds`` are in seconds.
    """

    plan: tuple[Fault | None, ...] = ()
    rate: float = 0.0
    kinds: tuple[Fault, ...] = TRANSIENT
    seed: int = 0
    retry_after: float = 1.0
    hang_seconds: float = 3600.0
    drip_seconds: float = 0.05

    def of(self, number: int) -> Fault | None:
        """The fault that request ``number`` meets."""
        if number < len(self.plan):
            return self.plan[number]
        draw = random.Random(f"{self.seed}/{number}")
        return draw.choice(self.kinds) if draw.random() < self.rate else None

    @classmethod
    def parse(cls, spec: str) -> Faults:
        """The faults in a form for command lines.

        ``plan=rate_limit+none+server_error,rate=0.2,kinds=hang+drip,seed=7,retry_after=0.5``;
        every part may be left out.

        Raises:
            ValueError: a part has no known name, or no value of its kind.
        """
        options: dict[str, object] = {}
        for part in filter(None, spec.split(",")):
            name, _, value = part.partition("=")
            if name not in _PARSERS:
                raise ValueError(f"{name!r} is not one of {', '.join(_PARSERS)}")
            options[name] = _PARSERS[name](value)
        return cls(**options)  # type: ignore[arg-type]


def _kinds(value: str) -> tuple[Fault, ...]:
    return tuple(map(Fault, value.split("+")))


def _plan(value: str) -> tuple[Fault | None, ...]:
    return tuple(None if name == "none" else Fault(name) for name in value.split("+"))


_PARSERS: dict[str, Callable[[str], object]] = {
    "plan": _plan,
    "rate": float,
    "kinds": _kinds,
    "seed": int,
    "retry_after": float,
    "hang_seconds": float,
    "drip_seconds": float,
}
