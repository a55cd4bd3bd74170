"""What `submit --wait` says of a document that gave no verdict."""

from __future__ import annotations

from collections import Counter

import pytest

from safepassage.schemas import Coordinates, Document, DocumentReport
from safepassage.streams.cli import submit
from safepassage.streams.cli.submit import _note, _shown_progress
from safepassage.streams.offline.submit import SubmissionProgress
from safepassage.streams.settings import Settings


def test_what_came_from_the_cache_and_what_had_no_finding_is_counted():
    place = Coordinates(topic="documents", partition=0, offset=3)
    ref = Document(id="d", text="text").ref(place)
    counts = {"extractions": 0, "accepted": 0, "quarantined": 0, "undetermined": 0}
    decisions: Counter[str] = Counter()
    missing = {place}
    _note(DocumentReport(document=ref, from_cache=True, **counts), decisions, missing)
    assert decisions["documents answered from the cache"] == 1
    assert decisions["documents without a finding"] == 1
    assert not missing


def test_without_a_terminal_the_steps_are_told_every_half_minute_and_retries_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    clock = [0.0]
    monkeypatch.setattr(submit.time, "monotonic", lambda: clock[0])
    places = {Coordinates(topic="documents", partition=0, offset=n): f"d{n}" for n in range(2)}
    documents = SubmissionProgress(places, Settings(), lambda: clock[0])
    with _shown_progress(documents) as show:
        for clock[0] in (1.0, 29.0):
            show(None)
        show("LLM: no token in 120 s")
        documents.ended(next(iter(places)))
        clock[0] = 60.0
        show(None)
    assert capsys.readouterr().err.splitlines() == [
        "LLM: no token in 120 s",
        "2 sent, 1 extracted, 1 aligned, 1 judged, 1 min left",
    ]
