"""What the pressed button says."""

from __future__ import annotations

import pytest

from safepassage.schemas.review import DECISION_REASONS, MAX_COMMENT
from safepassage.streams.console.web.correction import (
    REASON_BUTTONS,
    read_comment,
    read_decision,
)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"decision": "supports"}, ("supports", None)),
        ({"decision": "insufficient"}, ("insufficient", None)),
        ({"decision": "insufficient:denied"}, ("insufficient", "denied")),
        ({"decision": "insufficient", "reason": "denied"}, ("insufficient", None)),
        ({"decision": "corrected", "reason": "wrong_value"}, ("corrected", "wrong_value")),
        ({"decision": "corrected", "reason": ""}, ("corrected", None)),
        ({"decision": "supports:denied"}, None),
        ({"decision": "insufficient:made up"}, None),
        ({"decision": "corrected", "reason": "made up"}, None),
        ({"decision": "undone"}, None),
        ({}, None),
    ],
)
def test_a_decision_has_a_reason_only_where_something_is_refused(form, said):
    assert read_decision(form) == said


def test_every_reason_has_a_key_of_its_own():
    assert [button.key for button in REASON_BUTTONS] == ["1", "2", "3", "4", "5"]
    assert {button.reason for button in REASON_BUTTONS} == set(DECISION_REASONS)


def test_a_comment_is_one_line_and_no_longer_than_an_event_takes():
    assert read_comment({"comment": " the\n deposit "}) == "the deposit"
    assert len(read_comment({"comment": "x" * 9_000})) == MAX_COMMENT
    assert read_comment({}) == ""
