"""The contrast set: written pairs of which only direction, order, force or one word tells which is
true. A change of HalluGraph's rules that loses one of them is seen here.

``contrast/pairs.jsonl`` was written for this project, and the rules were made with it in view: its
figures are floors against regressions and no measure of quality.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.registry import load_detector

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent / "contrast" / "pairs.jsonl").read_text("utf-8").splitlines()
]
FALSE_FLAGGED = 0.97
TRUE_KEPT = 0.95


@pytest.fixture(scope="module")
def wholly_grounded():
    """Whether HalluGraph finds nothing wrong with each pair."""
    groundings = load_detector("hallugraph").ground(
        [Answer((pair["context"],), pair["response"]) for pair in PAIRS]
    )
    return [grounding.score == 1.0 for grounding in groundings]


def test_there_are_two_hundred_pairs_of_every_kind_and_both_labels():
    labels = defaultdict(set)
    for pair in PAIRS:
        labels[pair["kind"]].add(pair["label"])
    assert len(PAIRS) >= 200
    assert len({pair["id"] for pair in PAIRS}) == len(PAIRS)
    assert set(labels) == {
        "payer", "order", "modality", "party", "landlord", "granted", "small", "entity"
    }  # fmt: skip
    assert all(both == {0, 1} for both in labels.values())


def test_what_the_context_does_not_say_is_flagged(wholly_grounded):
    missed = [p for p, kept in zip(PAIRS, wholly_grounded, strict=True) if kept and not p["label"]]
    count = sum(not pair["label"] for pair in PAIRS)
    assert 1 - len(missed) / count >= FALSE_FLAGGED, [pair["response"] for pair in missed]


def test_true_paraphrases_are_kept(wholly_grounded):
    lost = [p for p, kept in zip(PAIRS, wholly_grounded, strict=True) if not kept and p["label"]]
    count = sum(pair["label"] for pair in PAIRS)
    assert 1 - len(lost) / count >= TRUE_KEPT, [pair["response"] for pair in lost]


def test_every_kind_is_told_apart(wholly_grounded):
    kept = defaultdict(list)
    for pair, whole in zip(PAIRS, wholly_grounded, strict=True):
        kept[pair["kind"], pair["label"]].append(whole)
    for kind, label in kept:
        share = sum(kept[kind, label]) / len(kept[kind, label])
        assert share >= 0.9 if label else share <= 0.1, (kind, label, share)
