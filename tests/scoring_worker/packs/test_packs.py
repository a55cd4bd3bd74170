"""Packs: none by default, by name, and what they add to a comparison."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.comparison.contract import Comparison, Passage, Place, Question
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.packs.registry import (
    NAMES,
    UnknownPack,
    packs_named,
    packs_of_environment,
    with_packs,
)
from safepassage.scoring_worker.scorers.folders import open_manifest
from safepassage.scoring_worker.weighing.stack import Stack


def asked(entity_type, value, quote, kind="name", answer="same"):
    at = quote.find(value)
    places = (Place(at, at + len(value)),) if at >= 0 else ()
    question = Question(entity_type, value, Passage(quote))
    return with_packs(packs_named(NAMES), question, Comparison(answer, kind, places))


def codes(comparison):
    return {finding.code for finding in comparison.findings}


def test_no_pack_is_at_work_by_default(monkeypatch):
    monkeypatch.delenv("SAFEPASSAGE_PACKS", raising=False)
    assert packs_of_environment() == ()
    compared = Comparison("same", "name")
    assert with_packs((), Question("Judge", "x", Passage("x")), compared) == (compared, {})


def test_packs_are_named_in_the_environment(monkeypatch):
    monkeypatch.setenv("SAFEPASSAGE_PACKS", "legal, Contracts,legal")
    assert [pack.name for pack in packs_of_environment()] == ["contracts", "legal"]


def test_an_unknown_pack_says_which_there_are(monkeypatch):
    with pytest.raises(UnknownPack, match=r"'medical'.*contracts, legal"):
        packs_named(["legal", "medical"])
    monkeypatch.setenv("SAFEPASSAGE_PACKS", "medical")
    with pytest.raises(ModelError, match="medical"):
        load_scorer("llm")


def test_the_label_beside_a_name_says_its_role():
    judge = asked("Judge", "Ann Lee", "Panel: Ann Lee   Counsel for the claimant: Bo Fry")[1]
    assert judge["legal_label_agrees"] == 1.0
    compared, features = asked("Judge", "Bo Fry", "Panel: Ann Lee   Counsel: Bo Fry")
    assert features["legal_label_differs"] == 1.0
    assert "label_differs" in codes(compared)


def test_a_hearing_in_private_is_not_public():
    compared, features = asked("Public or Private", "public", "heard in camera", "words")
    assert compared.answer == "different"
    assert features["legal_category_differs"] == 1.0


def test_one_place_has_several_names():
    features = asked("City", "Vancouver, BC", "in Vancouver, British Columbia")[1]
    assert features["legal_same_place"] == 1.0


def test_a_clause_that_the_quote_does_not_speak_of():
    compared, features = asked("Audit Rights", "Yes", "The term is five years.", "truth")
    assert "other_clause" in codes(compared)
    assert features["contracts_answer_is_yes"] == 1.0
    spoken = asked("Audit Rights", "Yes", "may inspect and audit the books", "truth")[1]
    assert spoken["contracts_clause_spoken_of"] == 1.0


def test_features_carry_the_name_of_their_pack():
    features = asked("Tenant", "Ann Lee", "Tenant: Ann Lee")[1]
    assert features
    assert all(name.startswith(("legal_", "contracts_")) for name in features)


@settings(max_examples=60)
@given(st.text(max_size=150), st.text(max_size=30), st.sampled_from(("Judge", "Audit Rights", "")))
def test_no_pack_raises(quote, value, entity_type):
    compared, features = asked(entity_type, value, quote)
    assert all(0.0 <= feature <= 1.0 for feature in features.values())
    assert compared.answer in {"same", "different"}


@pytest.mark.parametrize("name", ["small", "large"])
def test_packs_of_documents_leave_free_claims_alone(name):
    """Their coefficients were fitted on values: a claim is weighed by what was fitted on claims."""
    _, manifest = open_manifest(name)
    plain = Stack.of(manifest)
    for packs in (("contracts",), ("legal",), ("contracts", "legal")):
        fitted = Stack.of(manifest, packs).shapes
        assert fitted["claim"] == plain.shapes["claim"]
        assert fitted["located"] != plain.shapes["located"]
