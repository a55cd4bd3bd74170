"""Failures whose message is written for the operator: one line that says what to do."""

import traceback
from pathlib import Path


class OperatorError(Exception):
    """Shown on stderr without a traceback; the process ends with code 1."""


MAX_FRAMES = 12
ROOT = Path(__file__).parents[3]


def frames(error: BaseException) -> list[str]:
    """``module:line function`` of the innermost frames, the place of the error last, with the
    types of the errors that led to it."""
    where: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(where) < MAX_FRAMES:
        stack = traceback.extract_tb(cause.__traceback__)[-MAX_FRAMES:]
        if cause is not error:
            where.insert(0, f"{type(cause).__name__}, then")
        where[:0] = [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in stack]
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return where[-2 * MAX_FRAMES :]


def _short(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else "/".join(path.parts[-3:])
