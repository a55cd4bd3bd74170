"""The shared test vectors: document, context, and what the definition says of them."""

import json
from pathlib import Path

import pytest

from safepassage.agents.alignment import DocumentIndex, align

VECTORS = Path(__file__).parents[2] / ".." / "shared" / "alignment_vectors.jsonl"

if not VECTORS.exists():
    pytest.skip("../shared/alignment_vectors.jsonl is absent", allow_module_level=True)

CASES = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_vector(case):
    """Score, counts and span are the expected ones; the span is a slice of the document."""
    found = align(case["context"], case["document"])
    assert (found.matches, found.length) == (case["matches"], case["length"])
    assert found.score == pytest.approx(case["score"], abs=5e-4)
    spans = [(span.start, span.end) for span in found.spans]
    assert spans == ([(case["start"], case["end"])] if case["start"] >= 0 else [])
    assert all(span.text == case["document"][span.start : span.end] for span in found.spans)


def test_an_index_answers_like_align():
    """One index per document gives what `align` gives."""
    for case in CASES:
        index = DocumentIndex(case["document"])
        assert index.align(case["context"]) == align(case["context"], case["document"])
