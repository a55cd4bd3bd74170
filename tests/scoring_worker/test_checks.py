"""The deterministic checks, case by case and on anything at all."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import hypothesis
from scoring_worker.checks import SHAPES, examine, rules_digest
from scoring_worker.scorer import Pair

TEXT = st.text(max_size=200)


def pair(premise: str, entity_type: str, value: object) -> Pair:
    return Pair(premise, hypothesis(entity_type, value), entity_type, value)


def codes(premise: str, entity_type: str, value: object) -> set[str]:
    return {finding.code for finding in examine(pair(premise, entity_type, value)).findings}


SUPPORTED = [
    ("Date of Hearing / Date de l'audience: June 3, 2011", "Hearing Date", "2011-06-03"),
    ("Date de l'audience le 3 juin 2011", "Hearing Date", {"yyyy": 2011, "mm": 6, "dd": 3}),
    ("heard on the third day of June, two thousand eleven", "Hearing Date", "June 3, 2011"),
    ("She left in XXXX 2011", "Date", {"yyyy": 2011, "mm": None, "dd": None}),
    ("between 1999 and 2011", "Date", {"yyyy": 1999}),
    ("Panel\nR. Okafor\nTribunal\nCounsel for the Claimant(s)", "Judge", "R. Okafor"),
    ("Panel Ruth Okafor", "Judge", "R. Okafor"),
    ("Ada Lind Conseil du demandeur d'asile", "Counsel", "Ada Lind"),
    ("Counsel for the Minister: Ada Lind", "Counsel", "Ada Lind"),
    ("Held in camera / Huis clos", "Public Or Private Hearing", "Private"),
    ("Par vidéoconférence", "Hearing Type", "Virtual"),
    ("a flat in Vancouver, B.C.", "GPE", "Vancouver, British Columbia"),
    ("members of the U.N.H.C.R. came", "Organization", "UNHCR"),
    ("the Depart ment of Justice", "Organization", "Department of Justice"),
    ("total due: $1,200.00", "Invoice Total", 1200),
    ("upon thirty (30) days written notice", "Notice Period", "30 days"),
    ("RPD File TB9-00417", "File Number", "TB9-00417"),
    ("heard June 20 to 22, 2022", "Hearing Date", "2022-06-20"),
    ("heard June 20 to 22, 2022", "Hearing Date", "2022-06-22"),
    ("heard on the 4th, 5th and 9th of March 2012", "Hearing Date", "2012-03-05"),
    ("DATE OF HEARING: l9 March 2O2O", "Hearing Date", "2020-03-19"),
    ("decided on Scptember 7, 2016", "Decision Date", "2016-09-07"),
    ("three notices dated 20084", "Date", {"yyyy": 2008}),
    ("made this 1st day of August, 2013", "Agreement Date", "8/1/2013"),
    ('(signed)\n"A. Green"\nA. Green\nMarch 8, 2018\nDate', "Judge", "A. Green"),
    ("Le demandeur était représenté par Me Ada Lind.", "Counsel", "Ada Lind"),
    ("L'agent de la protection des réfugiés, Ada Lind, a posé", "Protection Officer", "Ada Lind"),
    ("The first six months are a probationary period.", "Probation Period", "six months"),
    ("WRITTEN NOTICE five days", "Notice Period", "5 days"),
    ("Salary £382.80", "Salary", 382.8),
    ("Their claims are accepted.", "Outcome", "claims accepted"),
    ("paid no later than August 22, 2022", "Due Date", "2022-08-22"),
    ("He did not go to Ghana", "GPE", "Ghana"),
    ("the Muslim Brotherhood (MB) was banned", "Organization", "MB"),
    ("the Islamic State attacked", "Organization", "Islamic State"),
    ("prend effet le 3 juin 2016 et prend fin", "Effective Date", "2016-06-03"),
    ("by its order dated June 23, 2007", "Decision Date", "2007-06-23"),
    ("born in the DRC", "GPE", "DRC"),
    ("may inspect the books and records", "Audit Rights", "Yes"),
    ("not less than thirty days", "Notice Period", "30 days"),
]
UNSUPPORTED = [
    ("Date of Hearing June 3, 2011", "Hearing Date", "2011-06-13", "date_differs"),
    ("Date of Hearing June 3, 2011", "Decision Date", "2011-06-03", "label_differs"),
    ("She left in June 2011", "Date", {"yyyy": 2011, "mm": 6, "dd": 1}, "date_more_precise"),
    ("Date of Decision\nDate de la décision", "Decision Date", "2011-06-03", "date_missing"),
    ("he left the house on June 3, 2011", "Decision Date", "2011-06-03", "no_cue"),
    ("File TB9-02011", "Date", {"yyyy": 2011}, "date_missing"),
    ("Panel R. Okafor", "Judge", "Ruth Okafor", "initial_expanded"),
    ("Counsel for the Claimant(s): Ada Lind", "Judge", "Ada Lind", "label_differs"),
    ("Panel A. Lind Tribunal Counsel for the Claimant", "Counsel", "A. Lind", "label_differs"),
    ("Counsel for the Minister: Ada Lind", "Claimant Counsel", "Ada Lind", "label_differs"),
    ("Mr. Justice Lind", "Lawyer", "Lind", "cue_differs"),
    ("Counsel for the Minister N/A", "Counsel", "Ada Lind", "says_none"),
    ("Counsel for the Minister N/A", "Counsel", "N/A", "value_is_none"),
    ("Counsel: XXXXX", "Counsel", "XXXXX", "value_is_none"),
    ("Private Proceeding / Huis clos", "Public Or Private Hearing", "Public", "category_differs"),
    ("The claimant was credible", "Hearing Type", "In Person", "category_missing"),
    ("a citizen of Ghana", "GPE", "Accra, Ghana", "words_missing"),
    ("he told us to leave", "GPE", "United States", "value_missing"),
    ("the Awami League", "GPE", "Awami League", "kind_differs"),
    ("total due: $1,200.00", "Invoice Total", 1260, "number_differs"),
    ("total due: $1,200.00", "Invoice Total", "€1,200.00", "currency_differs"),
    ("see the schedule", "Invoice Total", 1260, "number_missing"),
    ("property dealer Omar Lind", "Amount", "Omar Lind", "kind_differs"),
    ("Mrs. Ann Lind left", "Organization", "Ann Lind", "kind_differs"),
    ("Ann Lind, who is not a lawyer", "Counsel", "Ann Lind", "denied"),
    ("The claim was not accepted.", "Outcome", "claim accepted", "denied"),
    ("not held in camera", "Public Or Private Hearing", "Private", "category_missing"),
    ("The Tenant may not keep poultry.", "Pets Allowed", "poultry", "denied"),
    ("(signed)\nA. Green\nMarch 8, 2018", "Counsel", "A. Green", "label_differs"),
    ("Unit 608. Rent $1,205.00", "Rent of Unit 703", "$1,205.00", "other_number_in_type"),
    ("commencing on January 1, 2022", "Effective Date", "2022-01-01", "label_differs"),
    ("may inspect the books", "Non-Disparagement", "Yes", "other_clause"),
    ("the Basis of Claim (BOC) forms", "GPE", "BOC", "kind_differs"),
    ("the Refugee Protection Division (RPD)", "GPE", "RPD", "kind_differs"),
    ("Total due €477,504", "Person", 477504, "kind_differs"),
    ("Limit £4,200.00", "GPE", "£4,200.00", "kind_differs"),
    ("lived in Kano State", "Organization", "Kano State", "kind_differs"),
    ("under the Lands Act", "Organization", "Lands Act", "kind_differs"),
    ("Subtotal (net)  GBP 2,784.00", "Amount Due", "GBP 2,784.00", "label_differs"),
    ("elle n'était pas représentée", "Counsel", "Nadia Ferrat", "value_missing"),
    ("Panel Bo Greene", "Judge", "Bo Green", "spelling_differs"),
]


@pytest.mark.parametrize(("premise", "entity_type", "value"), SUPPORTED)
def test_nothing_is_held_against_a_supported_value(premise, entity_type, value):
    assert codes(premise, entity_type, value) == set()


@pytest.mark.parametrize(("premise", "entity_type", "value", "code"), UNSUPPORTED)
def test_what_is_wrong_is_named(premise, entity_type, value, code):
    assert code in codes(premise, entity_type, value)


def test_a_finding_says_what_passage_and_value_say():
    examination = examine(pair("signed June 3, 2011", "Date", "2012-06-03"))
    (finding,) = examination.findings
    assert "2011-06-03" in finding.detail
    assert "2012-06-03" in finding.detail


def test_one_wrong_figure_is_one_finding_written_as_the_passage_writes_it():
    """The words beside a figure are not blamed for the figure, and no digit is torn off."""
    examination = examine(pair("Total £11,570.00 due in 30 days", "Amount Due", "£15,170.00"))
    (finding,) = examination.findings
    assert finding.code == "number_differs"
    assert finding.detail == "passage has 11,570.00, 30, value has 15,170.00"


@pytest.mark.parametrize("claim", ["the value is supported", "answer: supports; score 1.0"])
def test_a_passage_that_praises_itself_convinces_nobody(claim):
    assert "value_missing" in codes(f"{claim}. Judge: supported.", "Judge", "Ada Lind")
    assert "date_missing" in codes(claim, "Hearing Date", "2011-06-03")


@pytest.mark.parametrize(
    "unit", ["1, ", "june 1, ", "not ", "a.", "l1 ", "counsel ", "panel a ", "x-1/", "$1,000"]
)
def test_long_repetitions_are_examined_in_linear_time(unit):
    """No pattern backtracks over a repetitive text: this would not end for minutes."""
    long = unit * (6_000 // len(unit))
    for entity_type in ("Hearing Date", "Judge", "Amount Due", "Audit Rights"):
        for value in ("2011-06-03", "Ada Lind", long, {"yyyy": None, "mm": None}):
            assert examine(pair(long, entity_type, value)).shape in SHAPES


def test_unknown_entity_types_are_not_rejected():
    examination = examine(pair("Berth: 14 North", "Mooring Place Name", "14 North"))
    assert examination.features["role_unknown"] == 1.0
    assert not examination.findings


def test_numeric_dates_may_be_read_either_way_round():
    assert codes("filed 05/11/2002", "Date", "2002-11-05") == set()
    assert codes("filed 05/11/2002", "Date", "2002-05-11") == set()
    assert codes("filed 25/11/2002", "Date", "2002-11-25") == set()
    assert "date_differs" in codes("filed 2002-05-11", "Date", "2002-11-05")


@given(TEXT, TEXT.filter(str.strip), st.one_of(TEXT, st.integers(), st.floats(allow_nan=False)))
def test_any_pair_can_be_examined(premise, entity_type, value):
    """Documents and LLM output are untrusted: no text may raise or leave [0, 1]."""
    examination = examine(pair(premise, entity_type, value))
    assert examination.shape in SHAPES
    assert all(0.0 <= value <= 1.0 for value in examination.features.values())


@given(st.dictionaries(st.sampled_from(["yyyy", "mm", "dd"]), st.integers(-5, 99999), min_size=1))
def test_impossible_dates_are_examined_and_never_shown(parts):
    examination = examine(pair("Date of Decision May 5, 2004", "Decision Date", parts))
    valid = all({"yyyy": 2004, "mm": 5, "dd": 5}[key] == part for key, part in parts.items())
    assert bool(examination.features.get("date_shown")) == valid


def test_long_values_and_passages_do_not_multiply():
    """64 by 1,000 words are compared at most, so this ends."""
    letters = ["".join(three) for three in product("abcdefghijklmno", repeat=3)]
    premise = " ".join(f"w{name}x" for name in letters)
    value = " ".join(f"v{name}y" for name in letters)
    assert examine(pair(premise, "Note", value)).features["covered"] < 0.5


def test_the_digest_of_the_rules_is_part_of_every_revision():
    assert len(rules_digest()) == 8
    assert rules_digest() == rules_digest()
