"""Answers of an LLM in a file, so that what was asked once is not paid for again.

A measurement that rests on an LLM repeats only with the same answers. The file is JSON lines,
appended as answers come: a run that was killed goes on from what it had. It holds what the LLM
said of the texts it was given, so it belongs where these texts may lie.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from research.kept_lines import KeptLines
from safepassage.schemas import canonical_json, stable_id
from safepassage.schemas.base import Contract

MAX_CONTENT = 1_000_000
"""Characters of one answer that are kept; a longer one is asked for again."""


class KeptAnswer(Contract):
    """One line of the file: the text of an answer, and what it took when it was given."""

    key: str = Field(min_length=1, max_length=128)
    content: str = Field(max_length=MAX_CONTENT, repr=False)
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    milliseconds: float = Field(ge=0)


def answer_key(
    model: str,
    messages: Sequence[Mapping[str, Any]],
    form: Mapping[str, Any],
    *,
    temperature: float,
    sample: int = 0,
) -> str:
    """Everything that an answer depends on but chance, which ``sample`` counts, and the
    endpoint."""
    told = canonical_json({"messages": [dict(one) for one in messages], "form": dict(form)})
    return stable_id("asked", model, told, f"{temperature:g}", str(sample))


class AnswerCache:
    """Kept answers by key, in ``path``; in memory only where that is None. Thread-safe.

    Raises:
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._lines = KeptLines(path, KeptAnswer)
        self._answers: dict[str, KeptAnswer] = {}
        for answer in self._lines.read():
            self._answers.setdefault(answer.key, answer)

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> KeptAnswer | None:
        """The answer of this key, if there is one."""
        return self._answers.get(key)

    def keep(self, answer: KeptAnswer) -> None:
        """Note an answer, in the file too; the first of a key stays.

        Raises:
            OSError: the file cannot be written.
        """
        with self._lock:
            if answer.key in self._answers:
                return
            self._answers[answer.key] = answer
            self._lines.add([answer])
