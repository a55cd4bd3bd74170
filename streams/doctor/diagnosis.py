"""What a check of the doctor ends in."""

from dataclasses import dataclass
from typing import Literal

PROBE_SECONDS = 5.0
MAX_SKEW_SECONDS = 5.0

State = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The outcome of one check. ``remedy`` says what to do where ``state`` is not "ok"."""

    subject: str
    state: State
    found: str
    remedy: str = ""


def of_skew(seconds: float, other: str) -> Diagnosis:
    """The diagnosis of a clock that is ``seconds`` ahead of ours."""
    if abs(seconds) <= MAX_SKEW_SECONDS:
        return Diagnosis("clock", "ok", f"within {MAX_SKEW_SECONDS:.0f} s of {other}")
    direction = "behind" if seconds > 0 else "ahead of"
    return Diagnosis(
        "clock",
        "failed",
        f"this machine's clock is {abs(seconds):.1f} s {direction} {other}",
        "let NTP set the clocks of all machines: retention, `replay --since` and latencies "
        "rest on the records' times",
    )


def first_line(error: BaseException) -> str:
    """An error in one short line."""
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__
