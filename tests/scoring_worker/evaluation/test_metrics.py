"""Figures against scikit-learn's, and what the made-up negatives are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_recall_fscore_support,
    roc_auc_score,
)

from safepassage.scoring_worker.evaluation.entities import labelled_extractions, types_of
from safepassage.scoring_worker.evaluation.metrics import measure
from safepassage.scoring_worker.evaluation.plots import binned, expected_error
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.evaluation.rows import EntityRow

ROWS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.5, 0.9, 2.0]), st.integers(1, 3)),
    min_size=2,
    max_size=40,
).filter(lambda rows: len({row[0] for row in rows}) == 2)


@settings(deadline=None, max_examples=30)
@given(ROWS)
def test_rankings_agree_with_scikit_learn(rows):
    """With ties and weights, which is what the bootstrap gives them."""
    positive, doubt, weight = (np.array(column) for column in zip(*rows, strict=True))
    ranking = Ranking(positive, doubt)
    assert ranking.auroc(weight) == pytest.approx(
        roc_auc_score(positive, doubt, sample_weight=weight)
    )
    assert ranking.auprc(weight) == pytest.approx(
        average_precision_score(positive, doubt, sample_weight=weight)
    )


@settings(deadline=None, max_examples=30)
@given(ROWS)
def test_figures_agree_with_scikit_learn(rows):
    """Precision, recall, F1 and macro F1 of the class "unsupported"."""
    unsupported = [row[0] for row in rows]
    flagged = [row[1] >= 0.5 for row in rows]
    found = measure(
        [not one for one in unsupported],
        [not one for one in flagged],
        [row[1] for row in rows],
        [str(at // 3) for at in range(len(rows))],
    )
    precision, recall, f1, _ = precision_recall_fscore_support(
        unsupported, flagged, average="binary", zero_division=0
    )
    assert (found.precision or 0.0) == pytest.approx(precision)
    assert found.recall == pytest.approx(recall)
    assert found.f1 == pytest.approx(f1)
    assert found.macro_f1 == pytest.approx(
        f1_score(unsupported, flagged, average="macro", zero_division=0)
    )


def test_documents_and_not_rows_are_drawn():
    """The same rows as one document each have a narrower interval than as two documents."""
    supported = [True, False] * 20
    accepted = [True, False] * 10 + [False, True] * 10
    doubt = [0.1, 0.9] * 10 + [0.9, 0.1] * 10
    apart = measure(supported, accepted, doubt, [str(at) for at in range(40)])
    together = measure(supported, accepted, doubt, [str(at // 20) for at in range(40)])
    assert apart.f1 == together.f1 == 0.5
    assert together.f1_ci == (0.0, 1.0)
    assert apart.f1_ci is not None
    assert apart.f1_ci[0] > 0.2


def test_measuring_twice_gives_the_same_intervals():
    """The bootstrap is seeded."""
    given_rows = ([True, False, True], [True, True, False], [0.1, 0.2, 0.7], ["a", "b", "c"])
    assert measure(*given_rows) == measure(*given_rows)


def test_calibration_error_by_hand():
    """Two bins: |.05 - 0| for one case and |.95 - 2/3| for three."""
    scores, supported = [0.05, 0.95, 0.95, 0.95], [False, True, True, False]
    means, shares, counts = binned(scores, supported)
    assert counts.tolist() == [1, 3]
    assert means.tolist() == pytest.approx([0.05, 0.95])
    assert shares.tolist() == pytest.approx([0, 2 / 3])
    assert expected_error(scores, supported) == pytest.approx(0.05 / 4 + (0.95 - 2 / 3) * 3 / 4)


JUDGMENT = (
    "Coram: JUSTICE ANN LEE\n"
    "Decided on 4 May 2015\n"
    "Heard on 2 March 2015 in Ottawa\n"
    "For the appellant: Bob Ray\n"
)


def annotated(text, **entities):
    """A document whose annotated entities are the first places of the given values."""
    found = [
        {"type": kind, "start": text.index(value), "end": text.index(value) + len(value)}
        for kind, value in entities.items()
    ]
    return EntityRow.model_validate({"id": "d", "text": text, "entities": found})


def made(row, seed=0):
    """The extractions made of one document."""
    return list(labelled_extractions(row, row.text or "", types_of([row]), seed=seed))


def test_annotated_entities_become_extractions_with_their_line_as_context():
    """Supported as annotated, unsupported where type, value or passage was swapped."""
    row = annotated(JUDGMENT, JUDGE="ANN LEE", DECISION_DATE="4 May 2015", HEARING="2 March 2015")
    rows = made(row)
    right = [one for one in rows if one.supported]
    assert [(one.entity_type, one.value, one.context) for one in right] == [
        ("Judge", "ANN LEE", "Coram: JUSTICE ANN LEE"),
        ("Decision Date", "4 May 2015", "Decided on 4 May 2015"),
        ("Hearing", "2 March 2015", "Heard on 2 March 2015 in Ottawa"),
    ]
    by_kind = {one.kind for one in rows if not one.supported}
    assert by_kind == {"type_swap", "value_swap", "other_passage"}
    for one in rows:
        assert one.context in JUDGMENT
        shown = str(one.value) in one.context
        assert shown == (one.kind in {"annotated", "type_swap"})


def test_equal_seeds_make_equal_negatives():
    """And the negatives of a document do not hang on the other documents' order."""
    row = annotated(JUDGMENT, JUDGE="ANN LEE", DATE="4 May 2015", LAWYER="Bob Ray", GPE="Ottawa")
    assert made(row) == made(row)
    assert len({str(made(row, seed)) for seed in range(8)}) > 1


def test_no_swap_into_a_type_that_takes_in_others():
    """A judge is a person: "Other Person: ANN LEE" is not made as a negative."""
    row = annotated(JUDGMENT, JUDGE="ANN LEE", OTHER_PERSON="Bob Ray", DATE="4 May 2015")
    swapped = {
        one.entity_type for seed in range(8) for one in made(row, seed) if one.kind == "type_swap"
    }
    assert swapped <= {"Judge", "Date"}


def test_a_yes_is_swapped_for_another_question():
    """Clause types answer each other's questions, not those of names and dates."""
    text = "No assignment without consent.\nBooks may be audited.\nGoverned by the laws of Ohio.\n"
    entities = [
        {"type": "Anti-Assignment", "start": 0, "end": 29, "value": "Yes"},
        {"type": "Audit Rights", "start": 31, "end": 51, "value": "Yes"},
        {"type": "Governing Law", "start": 76, "end": 80, "value": "Ohio"},
    ]
    row = EntityRow.model_validate({"id": "d", "text": text, "entities": entities})
    swapped = {(one.entity_type, one.value) for one in made(row) if one.kind == "type_swap"}
    assert swapped == {("Audit Rights", "Yes"), ("Anti-Assignment", "Yes")}


def test_an_annotation_beyond_the_text_is_left_out():
    """Offsets come from outside."""
    places = [(500, 510), (3, 2), (-1, -1), (-5, 3), (5, 6)]
    entities = [{"type": "X", "start": start, "end": end} for start, end in places]
    row = EntityRow.model_validate({"id": "d", "text": "short text", "entities": entities})
    assert made(row) == []
