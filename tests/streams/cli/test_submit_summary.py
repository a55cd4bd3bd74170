"""What `submit --wait` says of a document that gave no verdict."""

from __future__ import annotations

from collections import Counter

from safepassage.schemas import Coordinates, Document, DocumentReport
from safepassage.streams.cli.submit import _note


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
