"""Answers of an LLM in a file, so that what was asked once is not paid for again.

A measurement that rests on an LLM repeats only with the same answers. The file is JSON lines,
appended as answers come: a run that was killed goes on from what it had. It holds what the LLM
said of the texts it was given, so it belongs where these texts may lie.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog
from pydantic import Field, ValidationError

from schemas import canonical_json, stable_id
from schemas.base import Contract

log = structlog.get_logger(__name__)

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
    """Everything that an answer depends on but chance, for which ``sample`` stands.

    The endpoint is no part of it: the answers of a model are taken along to another machine.
    """
    told = canonical_json({"messages": [dict(one) for one in messages], "form": dict(form)})
    return stable_id("asked", model, told, f"{temperature:g}", str(sample))


class AnswerCache:
    """Kept answers by key, in ``path``; in memory only where that is None. Thread-safe.

    A line that cannot be read is passed over, as the last one of a killed run may be.

    Raises:
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._answers: dict[str, KeptAnswer] = {}
        self._torn = False
        if path is not None and path.exists():
            self._read(path)

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
            if self._path is None:
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                start = b"\n" if self._torn else b""
                file.write(start + answer.model_dump_json().encode() + b"\n")
            self._torn = False

    def _read(self, path: Path) -> None:
        unreadable = 0
        raw = path.read_bytes()
        self._torn = bool(raw) and not raw.endswith(b"\n")
        for line in raw.splitlines():
            if not line.strip():
                continue
            try:
                answer = KeptAnswer.model_validate_json(line)
            except ValidationError:
                unreadable += 1
                continue
            self._answers.setdefault(answer.key, answer)
        if unreadable:
            log.warning("kept_answers_unreadable", lines=unreadable)
