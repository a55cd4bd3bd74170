"""Generated documents and corruptions: what they promise about labels and spans."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recipes.corruption.corruptors import (
    CORRUPTIONS,
    corrupt,
    labelled_pairs,
)
from recipes.corruption.mutations import alter, sharpen
from recipes.invented import dates, synthetic_documents
from research.known_documents import (
    KnownDocument,
    KnownField,
)
from safepassage.schemas import render_value
from safepassage.scoring_worker.comparison import Passage
from safepassage.scoring_worker.comparison.dates import compare_date, date_of_value

DOCUMENTS = list(synthetic_documents(40, seed=3))
PAIRS = list(labelled_pairs(DOCUMENTS, seed=3))


def test_the_same_seed_gives_the_same_documents_and_pairs():
    again = list(synthetic_documents(40, seed=3))
    assert again == DOCUMENTS
    assert list(labelled_pairs(again, seed=3)) == PAIRS


def test_fields_stand_inside_their_contexts():
    for document in DOCUMENTS:
        for known in document.fields:
            assert known.context_start <= known.start < known.end <= known.context_end
            assert known.context_end <= len(document.text)


def test_every_corruption_occurs_and_labels_follow_the_kind():
    kinds = Counter((pair.kind, pair.label) for pair in PAIRS)
    assert set(CORRUPTIONS) | {"negation"} == {kind for kind, label in kinds if label == 0}
    assert {kind for kind, label in kinds if label == 1} == {"supported"}
    assert 0.3 < sum(pair.label for pair in PAIRS) / len(PAIRS) < 0.7


def test_supported_passages_are_slices_of_their_document():
    texts = {document.id: document.text for document in DOCUMENTS}
    assert all(p.premise in texts[p.group] for p in PAIRS if p.label == 1)


def test_wrong_values_are_not_in_the_passage():
    wrong = [p for p in PAIRS if p.kind in {"wrong_value", "other_passage"}]
    assert wrong
    for pair in wrong:
        assert render_value(pair.value).casefold() not in pair.premise.casefold()


def test_a_negated_sentence_denies_what_its_original_says():
    text = "The rent is $900. Ann Lee sat."
    rent = KnownField(("Rent",), "money", "$900", 12, 16, 0, 17)
    judge = KnownField(("Judge",), "person", "Ann Lee", 18, 25, 18, 30)
    document = KnownDocument("d", text, (rent, judge))
    denied = CORRUPTIONS["negation"](document, rent, random.Random(0))
    assert denied is not None
    assert (denied.premise, denied.label) == ("The rent is not $900.", 0)
    assert CORRUPTIONS["negation"](document, judge, random.Random(0)) is None


@settings(deadline=None)  # the first date reads the names of the months in every language
@given(st.integers(0, 10_000), st.sampled_from(["day", "month", "year"]))
def test_written_dates_are_read_back(seed, precision):
    """What the generators write, the comparators read: every English and French form."""
    rng = random.Random(seed)
    date = dates.draw_date(rng, precision)
    for language, write in (("en", dates.write_english), ("fr", dates.write_french)):
        passage = Passage(f"dated {write(date, rng)}", language=language)
        value = date_of_value(date.parts)
        assert value is not None
        assert compare_date(value, passage).answer != "different"


@given(st.integers(0, 10_000))
def test_an_altered_date_is_another_date_and_a_sharpened_one_has_more_parts(seed):
    rng = random.Random(seed)
    whole = dates.draw_date(rng).parts
    assert alter(whole, "date", rng) != whole
    partial = dates.draw_date(rng, "month").parts
    sharper = date_of_value(sharpen(partial, "", "date", rng))
    assert sharper is not None
    there = Passage(dates.write_english(dates.draw_date(random.Random(seed), "month"), rng))
    assert compare_date(sharper, there).answer != "same"


@pytest.mark.parametrize(
    ("value", "kind"),
    [("Ann B. Lee", "person"), ("Toronto, Ontario", "place"), (1200, "money"), ("Yes", "clause")],
)
def test_altered_values_differ(value, kind):
    rng = random.Random(0)
    assert all(alter(value, kind, rng) != value for _ in range(50))


def test_a_users_document_with_one_field_can_be_corrupted():
    text = "Berth 14 is let to Ann Lee.\nThe rent is due in May."
    known = KnownField(("Tenant",), "person", "Ann Lee", 19, 26, 0, 27)
    document = KnownDocument("d", text, (known,))
    rng = random.Random(2)
    found = [pair for _ in range(40) if (pair := corrupt(document, known, rng))]
    assert {pair.label for pair in found} == {0}
    assert len({pair.kind for pair in found}) >= 3
