"""Roles, force and order, as function words and the place of the predicate tell them."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.hallugraph.clauses import (
    Clauses,
    conflicts,
    cues,
    opposed,
    order,
    stem,
    stems,
)
from safepassage.scoring_worker.detectors.hallugraph.detector import HalluGraph
from safepassage.scoring_worker.detectors.hallugraph.local_graphs import LocalExtractor


def roles(sentence: str, *entities: str) -> list[str]:
    places = [(at := sentence.index(text), at + len(text)) for text in entities]
    clauses = Clauses(sentence, places)
    return [clauses.role(number) for number in range(len(places))]


def force(sentence: str) -> str:
    return Clauses(sentence, []).force(len(sentence))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Acme sued Jones.", ["doer", "taker"]),
        ("Acme was sued by Jones.", ["taker", "doer"]),
        ("money from Acme to Jones", ["source", "goal"]),
        ("Before Acme came Jones left.", ["before", "doer"]),
        ("Acme left prior to Jones.", ["doer", "before"]),
        ("a house of Acme near Jones", ["governed", "governed"]),
        ("Acme, without Jones, lost.", ["", "without"]),
    ],
)
def test_an_entity_has_the_role_of_what_governs_it(sentence, expected):
    assert roles(sentence, "Acme", "Jones") == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("the tenant may leave", "permission"),
        ("the tenant is entitled to leave", "permission"),
        ("the tenant must leave", "obligation"),
        ("the tenant has to leave", "obligation"),
        ("the tenant may not leave", "prohibition"),
        ("the tenant is forbidden to leave", "prohibition"),
        ("the tenant need not leave", "release"),
        ("the tenant is not required to leave", "release"),
        ("the tenant leaves", ""),
        ("the appeal was allowed", ""),  # a verb of its own
    ],
)
def test_a_clause_has_the_force_of_its_modal(sentence, expected):
    assert force(sentence) == expected


def test_may_is_never_must_and_a_duty_may_be_told_as_a_fact():
    assert conflicts("obligation", "permission")
    assert conflicts("permission", "obligation")
    assert conflicts("", "permission")
    assert not conflicts("", "obligation")
    assert not conflicts("permission", "permission")


def test_the_order_is_the_same_from_both_sides():
    """A before B is B after A, and "before B, A"."""
    assert order("doer", "before") == -order("doer", "after") == -order("before", "doer")
    assert order("", "") == order("before", "after") == 0
    assert opposed("before", "after")
    assert not opposed("taker", "goal")


def test_forms_of_one_verb_have_one_stem():
    for forms in ("paid pays paying", "dismissed dismissal", "repaid repays", "sold sells"):
        assert len({stem(form) for form in forms.split()}) == 1
    assert stems("was quickly paid by the") == (stem("pay"),)
    assert "may" in cues("permission")


def test_a_place_in_between_takes_no_predicate_from_its_subject():
    context = "The old mill at Larkbridge was let to the Harper family in 1994."
    [found] = HalluGraph("hallugraph", LocalExtractor()).ground(
        [Answer((context,), "The mill was let in 1994.")]
    )
    assert found.score == 1.0
