"""A value has its words in the quote, in any form that is proved."""

import pytest

from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker.comparison import Comparison, Passage, Question
from safepassage.scoring_worker.comparison.compare import compare

from .one_word_swaps import SWAPS, Swap


def compared(value: object, quote: str, entity_type: str = "Finding", **more: str) -> Comparison:
    return compare(Question(entity_type, value, Passage(quote, **more)))  # type: ignore[arg-type]


def codes(found: Comparison) -> set[str]:
    return {finding.code for finding in found.findings}


def detail(found: Comparison) -> str:
    return next(one.detail for one in found.findings if one.code == "word_differs")


@pytest.mark.parametrize("swap", SWAPS, ids=lambda swap: swap.wrong)
def test_one_other_word_makes_another_value(swap: Swap) -> None:
    found = compared(swap.wrong, swap.quote, swap.entity_type)
    assert found.answer == "different"
    assert codes(found) & {"word_differs", "name_differs"}


@pytest.mark.parametrize("swap", SWAPS, ids=lambda swap: swap.right)
def test_the_same_value_in_another_form_is_not_stopped(swap: Swap) -> None:
    assert compared(swap.right, swap.quote, swap.entity_type).answer != "different"


def test_the_swaps_are_of_many_fields() -> None:
    assert len(SWAPS) >= 60
    assert len({swap.domain for swap in SWAPS}) >= 15
    assert len({(swap.quote, swap.wrong) for swap in SWAPS}) == len(SWAPS)


@pytest.mark.parametrize(
    ("value", "quote", "said"),
    [
        (
            "chronic gastritis",
            "Impression: acute gastritis.",
            "the quote has “acute” for “chronic”",
        ),
        ("viral pneumonia", "pneumonia, type 3", "“viral” is not in the quote"),
        ("plasma torch", "Pos. 4: type 3 torch", "the quote has “type 3” for “plasma”"),
        ("Port of Bilbao", "bound for the Port of Leixoes", "the quote has “Leixoes” for “Bilbao”"),
    ],
)
def test_the_finding_names_the_word_and_what_the_quote_has(
    value: str, quote: str, said: str
) -> None:
    found = compared(value, quote)
    assert found.answer == "different"
    assert detail(found) == said


def test_what_the_quote_has_instead_is_a_rival() -> None:
    quote = "Impression: acute gastritis."
    found = compared("chronic gastritis", quote)
    assert [quote[place.start : place.end] for place in found.rivals] == ["acute"]


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("colour television", "a color television set"),  # spelling
        ("haemolytic anaemia", "known hemolytic anemia"),
        ("organisation of archives", "the organization of the archives"),
        ("litre bottles", "bottles of one liter"),
        ("Harbour Labour Organisation", "the Harbor Labor Organization"),
        ("healthcare assistant", "works as health care assistant"),  # blanks and hyphens
        ("Tilda Overby for Council", "paid by Tilda Overby for Council2024Unsubscribe here"),
        ("post-operative fever", "fever, postoperative"),
        ("inspected monthly valves", "valves are inspected every month, monthly"),  # forms
        ("replaced the filters", "the filter was replaced"),
        ("5 mg each evening", "5mg each evening"),  # figures, units, dates
        ("0.5 g in the evening", "in the evening 500 mg"),
        ("twelve crates of pears", "12 crates of pears"),
        ("from 3 May 2021 on parole", "on parole as of 03.05.2021"),
        ("2,000 (kilometres)", "a range of 2,000 km"),
        ("World Health Organization office", "the office of the WHO"),  # short forms
        ("Univ. of Tartu library", "library of the University of Tartu"),
        ("Dept of Radiology 4", "Radiology Department 4"),
        ("left forearm burns", "burns L forearm"),
        ("stage III sarcoma", "stage 3 sarcoma"),
        ("hepatitis A antibodies", "antibodies against hepatitis A"),
        ("Vanessa Ekman, notary", "V. Ekman, notary public"),
        ("citizen of Germany", "citizen of DEU"),  # countries, languages
        ("Tuesday morning", "ward round Tue morning"),
        ("H. Lindner, vet", "drs. Lindner, vet"),
        ("Canda Border Services Agency", "the Canada Border Services Agency"),  # mistyped
        ("Mr. Oduya's invoice", "an invoice of Oduya"),  # a title
    ],
)
def test_a_word_in_another_form_is_founded(value: str, quote: str) -> None:
    assert compared(value, quote).answer != "different"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("duties of the insurer", "the duties of the insured"),  # who does, and to whom it is done
        ("lessor pays tax", "tax: lessee pays"),
        ("prednisolone drops", "prednisone drops"),
        ("vertical lift", "vertigo in the lift"),
        ("Maria Lindqvist", "Mario Lindqvist"),
        ("500 mg in the evening", "in the evening 500 ml"),
        ("three crates of pears", "12 crates of pears"),
        ("World Trade Organization office", "the office of the WHO"),
        ("Junior Archivist", "senior archivist since 2019"),
        ("citizen of Austria", "citizen of DEU"),
        ("R forearm burns and scars", "burns L forearm, scars"),
        ("male kestrels", "female kestrels"),  # a part of a word
        ("complete survey", "incomplete survey"),
        ("symptomatic carriers", "asymptomatic carriers"),
        ("attached bungalow", "A detached bungalow"),  # an article is no initial
        ("vitamin K drops", "vitamin D drops for the kidneys"),
        ("hepatitis A antibodies", "hepatitis B antibodies in a sample"),
        ("Hall C entrance", "Hall D entrance, Chestnut Lane"),
        ("pump model 300", "pump model X"),
        ("stage III sarcoma", "stage 2 sarcoma"),
    ],
)
def test_what_only_looks_alike_is_another_value(value: str, quote: str) -> None:
    assert compared(value, quote).answer == "different"


def test_a_compound_holds_its_parts_in_a_language_of_compounds() -> None:
    german = {"language": "de"}
    assert (
        compared("Schlüssel, Haustür", "Haustürschlüssel liegen vor", **german).answer
        != "different"
    )
    assert compared("aktives Konto", "inaktives Konto", **german).answer == "different"
    assert compared("kitchen plan", "kitchenette plan", language="en").answer == "different"


def test_a_label_or_a_heading_founds_a_word() -> None:
    assert compared("Serum sodium 139", "139 mmol/l").answer == "different"
    labelled = compared("sodium level normal", "normal", heading="Laboratory | Sodium level")
    assert labelled.answer != "different"
    assert compared("sodium level normal", "normal", "Sodium Level").answer != "different"


def test_what_only_stands_around_the_quote_founds_nothing() -> None:
    found = compared("yellow fever", "the fever fell", before="After yellow jaundice ")
    assert found.answer == "different"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("左股骨骨折", "左胫骨骨折"),  # no blanks between words
        ("losartan once daily", "每日一次 50mg"),  # another script
        ("Ольга Петрова", "signed: Olga Petrova"),  # another script
        ("TRUTH TO POWER PAC", "PAID FOR BY TRUTH TO POWERPAC"),  # other blanks
    ],
)
def test_what_cannot_be_looked_up_is_read(value: str, quote: str) -> None:
    assert "word_differs" not in codes(compared(value, quote))


def test_a_translation_is_read() -> None:
    quote = "Die Kündigung erfolgte wegen eines Umzugs in eine andere Stadt."
    found = compared("moved to another city", quote, "Reason for the termination", language="de")
    assert "word_differs" not in codes(found)
    german = compared("wegen Eigenbedarfs", quote, "Grund der Kündigung", language="de")
    assert "word_differs" in codes(german)
    country = compared("resident in Germany", "resident in Deutschland", language="de")
    assert country.answer != "different"


def test_the_reader_decides_where_the_schema_says_so() -> None:
    passage = Passage("The tenant fell two months behind.")
    strict = Question("Reason", "rent arrears", passage)
    assert compare(strict).answer == "different"
    paraphrased = Question("Reason", "rent arrears", passage, words="reader")
    assert compare(paraphrased).answer == "not_comparable"


def test_allowed_values_are_chosen_and_not_quoted() -> None:
    passage = Passage("The tenant fell two months behind.")
    chosen = Question("Reason", "arrears", passage, allowed=("arrears", "nuisance"))
    assert "word_differs" not in codes(compare(chosen))


def test_a_claim_is_no_value() -> None:
    assert "word_differs" not in codes(compared("The lessee defaulted.", "He paid.", CLAIM_TYPE))


def test_every_part_of_a_list_has_its_words() -> None:
    found = compared(["oak veneer", "walnut veneer"], "in oak veneer or cherry veneer")
    assert found.answer == "different"
    assert "word_differs" in codes(found)
    assert compared(["oak veneer", "cherry"], "in oak veneer or cherry").answer == "same"
