"""One value in two notations, and two values that look alike, as business papers write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Passage, Question

ROWS = Path(__file__).with_name("notations.txt").read_text("utf-8").splitlines()


def parameters() -> list[object]:
    found = []
    for row in ROWS:
        if row.startswith("#"):
            continue
        marks = [pytest.mark.xfail(reason="not read today", strict=True)] if row[0] == "?" else []
        found.append(pytest.param(*row.lstrip("?").split(" | "), marks=marks))
    return found


@pytest.mark.parametrize(("expected", "language", "entity_type", "value", "quote"), parameters())
def test_another_value_is_stopped_and_another_notation_is_not(
    expected: str, language: str, entity_type: str, value: str, quote: str
) -> None:
    passage = Passage(quote, language=None if language == "-" else language)
    found = compare(Question(entity_type, value, passage))
    assert (found.answer == "different") is (expected == "other"), found.findings
