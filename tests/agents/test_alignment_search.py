"""The ways to an alignment that are faster than the whole matrix, each against the matrix."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.agents.alignment import bound, sweep, traceback
from safepassage.agents.alignment.anchors import Anchors
from safepassage.agents.alignment.bound import Bound, highest_score
from safepassage.agents.alignment.normalisation import code_points, normalise
from safepassage.agents.alignment.reference import biopython_first, biopython_score
from safepassage.agents.alignment.search import SearchedText
from safepassage.agents.alignment.sweep import AlignmentTimeoutError, SweptText
from safepassage.agents.alignment.traceback import trace_back

WORDS = [
    "the",
    "claimant",
    "is",
    "a",
    "citizen",
    "of",
    "and",
    "was",
    "not",
    "heard",
    "in",
    "toronto",
    "by",
    "panel",
    "date",
]


def texts(letters, smallest, largest):
    return st.text(st.sampled_from(letters), min_size=smallest, max_size=largest)


def prose(seed, words):
    """Text with the repetitions of real text."""
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) + str(rng.randrange(9)) for _ in range(words))


def edited(text, share, seed):
    """``text`` with that share of its characters dropped, doubled or replaced."""
    rng = random.Random(seed)
    edits = ("", "x", None)
    return "".join((rng.choice(edits) or c + c) if rng.random() < share else c for c in text)


@pytest.mark.parametrize("block", [1, 2, 7, 1_000])
@settings(max_examples=150, deadline=None)
@given(document=texts("abc", 1, 200), context=texts("abc", 1, 12))
def test_the_end_is_that_of_biopythons_first_alignment(block, document, context):
    """Score and document end, however the document is cut into blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "_BLOCK", block)
        patch.setattr(sweep, "_OVERLAP", block)
        end = SweptText(code_points(document)).best_endpoint(code_points(context))
    first = biopython_first(code_points(document), code_points(context))
    assert (end is None) == (first is None)
    if first:
        assert (end.score, end.document) == (first.score, first.end)
        assert end.score == biopython_score(code_points(document), code_points(context))


@settings(max_examples=100, deadline=None)
@given(document=texts("ab", 100, 300), context=texts("ab", 30, 90))
def test_scores_above_127_go_on_in_16_bits(document, context):
    """Nothing overflows where a block's scores outgrow the type that they began in."""
    end = SweptText(code_points(document)).best_endpoint(code_points(context))
    assert end.score == biopython_score(code_points(document), code_points(context))


def test_scores_above_32767_go_on_in_32_bits():
    """Nor there: a quote of 9,000 characters scores 36,000 half points."""
    codes = code_points(prose(5, 2_000)[:9_000])
    end = SweptText(codes).best_endpoint(codes)
    assert (end.score, end.document, end.context) == (36_000, 9_000, 9_000)


@settings(max_examples=400, deadline=None)
@given(document=texts("abc ", 1, 90), context=texts("abc ", 1, 40))
def test_the_walk_back_makes_biopythons_choices(document, context):
    """Of several best alignments the same one, with all its counts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traceback, "BIOPYTHON_WIDTH", 0)
        codes = code_points(document), code_points(context)
        end = SweptText(codes[0]).best_endpoint(codes[1])
        if end:
            assert trace_back(*codes, end) == biopython_first(*codes)


@pytest.mark.parametrize("share", [0.01, 0.04, 0.08])
def test_certified_windows_hold_the_first_alignment(share):
    """With few edits only a small part of the document is looked at, and it is the right one."""
    text = prose(1, 1_500)
    codes = normalise(text).codes
    searched = SearchedText(codes)
    for seed in range(12):
        start = 401 * seed
        context = code_points(edited(text[start : start + 90], share, seed))
        certified = searched.in_windows(context)
        assert certified is None or certified == searched.anywhere(context)
        assert certified or share > 0.04


@settings(max_examples=300, deadline=None)
@given(document=texts("abcd", 40, 160), start=st.integers(0, 120), seed=st.integers(0, 99))
def test_no_good_alignment_lies_outside_the_certified_windows(document, start, seed):
    """Every end of an alignment with the certified score is inside one of the windows."""
    context = edited(document[start : start + 40], 0.03, seed) or "a"
    codes, needle = code_points(document), code_points(context)
    anchors = Anchors(codes)
    first = biopython_first(codes, needle)
    windows = anchors.certified(anchors.hits(needle), len(needle), first.score if first else 0)
    if windows:
        assert any(w.start <= first.start and first.end <= w.end for w in windows)


def greatest_gain(document, context):
    """Doubled V by its definition, cell by cell."""
    row = [0] * (len(document) + 1)
    for character in context:
        below = [0]
        for column, other in enumerate(document, 1):
            pair = row[column - 1] + (2 if other == character else 0)
            below.append(max(pair, row[column], below[-1] - 1))
        row = below
    return max(row)


@settings(max_examples=400, deadline=None)
@given(document=texts("abcd", 1, 80), context=texts("abcde", 1, 25))
def test_the_bound_is_computed_bit_by_bit_as_defined(document, context):
    """The bit-parallel rows give the greatest V of the plain recurrence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound, "_EARLY", 2.0)  # no early end, which gives a looser bound
        least = Bound(code_points(document)).below(code_points(context), 1.1, None)
    assert least == highest_score(greatest_gain(document, context), len(context))


@settings(max_examples=400, deadline=None)
@given(document=texts("abc ", 1, 80), context=texts("abc ", 1, 25))
def test_no_alignment_scores_above_the_bound(document, context):
    """D of the first best alignment never exceeds it, nor does any threshold reject wrongly."""
    first = biopython_first(code_points(document), code_points(context))
    if first is None:
        return
    score = first.matches / (first.length + len(context) - first.aligned)
    for threshold in (0.2, 0.4, 0.6, 0.8):
        least = Bound(code_points(document)).below(code_points(context), threshold, None)
        assert least is None or score <= least < threshold


def test_blocks_of_the_bound_overlap_enough(monkeypatch):
    """A quote across the border of two blocks is not refuted."""
    monkeypatch.setattr(bound, "_BLOCK", 400)
    text = prose(2, 600)
    whole = Bound(code_points(text))
    for start in range(0, len(text) - 60, 97):
        context = code_points(edited(text[start : start + 60], 0.1, start))
        assert whole.below(context, 0.6, None) is None


def test_masks_kept_for_the_bound_are_bounded(monkeypatch):
    """A context of thousands of different characters cannot fill the memory."""
    monkeypatch.setattr(bound, "_CACHED_MASK_BYTES", 100)
    letters = "".join(map(chr, range(0x4E00, 0x4F00)))
    kept = Bound(code_points(letters * 4))
    kept.below(code_points(letters[::-1]), 0.6, None)
    assert kept._mask_bytes <= 100 + len(letters) * 4 // 8


@pytest.mark.parametrize("way", ["anywhere", "in_windows"])
def test_a_deadline_ends_the_search(way):
    """A deadline that has passed raises, on the sweep as on large windows."""
    text = prose(3, 1_000)
    context = code_points(text[100:1_000].replace("claimant", "clamant"))
    with pytest.raises(AlignmentTimeoutError):
        getattr(SearchedText(code_points(text)), way)(context, time.monotonic() - 1)


def test_a_deadline_ends_the_proof():
    """So does it on the way to a rejection."""
    document = Bound(code_points(prose(4, 500)))
    with pytest.raises(AlignmentTimeoutError):
        document.below(code_points("zqx jkv" * 9), 0.6, time.monotonic() - 1)
