"""Denials, hypotheses and other people, in every language that is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Comparison, Passage, Place, Question
from safepassage.scoring_worker.comparison.denials.assertion_status import read_denial
from safepassage.scoring_worker.comparison.denials.cued_text import read
from safepassage.scoring_worker.comparison.denials.languages import languages, telling
from safepassage.scoring_worker.comparison.denials.scopes import scoped
from safepassage.scoring_worker.comparison.denials.tokens import small_words

SECTIONS = {
    "words", "prepositions", "verbs", "no", "except", "not", "after", "pseudo", "doubt", "if",
    "if after", "someone", "close", "and", "none", "unstated", "either", "yes", "no answer",
    "asks", "asks if", "asks someone", "prefix", "yes said", "no said", "family", "whose",
    "undone", "cancelled", "instead", "replaced", "once", "unsure", "due", "turned", "asks once",
    "article",
}  # fmt: skip


def denial(entity_type, value, quote, kind="words", **around):
    at = quote.casefold().index(value.casefold())
    places = [at]
    while (at := quote.casefold().find(value.casefold(), at + 1)) >= 0:
        places.append(at)
    found = tuple(Place(at, at + len(value)) for at in places)
    question = Question(entity_type, value, Passage(quote, **around))
    return read_denial(question, Comparison("same", kind, found))


def codes(comparison):
    return {finding.code for finding in comparison.findings}


DENIED = [
    ("Symptom", "rash", "There was no rash on the trunk."),
    ("Symptom", "nausea", "He denies vomiting, nausea or chills."),
    ("Finding", "effusion", "An effusion was not seen."),
    ("Feature", "parking", "Breakfast is included, but parking is not included."),
    ("Hobby", "chess", "She never played chess."),
    ("Licence", "exclusive", "The right is non-exclusive."),
    ("Member", "Norway", "It is not a member of Norway."),
    ("Language", "Dutch", "He speaks neither Danish nor Dutch."),
    ("Ingredient", "sugar", "made without sugar"),
    ("Covered Damage", "flood", "All damage is covered except flood."),
    ("Symptom", "Husten", "Der Patient hat keinen Husten."),
    ("Befund", "Fraktur", "Eine Fraktur wurde ausgeschlossen."),
    ("Symptôme", "fièvre", "Il n'a pas de fièvre."),
    ("Symptôme", "toux", "Sans toux ni douleur."),
    ("Síntoma", "tos", "La paciente niega tos."),
    ("Sintoma", "febre", "O doente não tem febre."),
    ("Sintomo", "febbre", "La paziente non ha febbre."),
    ("Symptoom", "koorts", "De patiënt heeft geen koorts."),
]


@pytest.mark.parametrize(("entity_type", "value", "quote"), DENIED)
def test_what_is_denied_is_another_value(entity_type, value, quote):
    compared = denial(entity_type, value, quote)
    assert compared.answer == "different"
    assert "denied" in codes(compared)


STATED = [
    ("Symptom", "rash", "The rash has not changed."),
    ("Symptom", "rash", "No change in the rash."),
    ("Symptom", "rash", "There is no doubt that he has a rash."),
    ("Symptom", "cough", "No fever, but a dry cough."),
    ("Symptom", "cough", "No fever. He has a cough."),
    ("Symptom", "cough", "She has no fever and she reports a cough."),
    ("Drug", "aspirin", "Allergies: none\nDrugs: aspirin"),
    ("Drug", "aspirin", "Smoker: no, takes aspirin"),
    ("Language", "French", "He speaks not only English but French."),
    ("Finding", "rods", "Gram negative rods were cultured."),
    ("Symptom", "Husten", "Kein Fieber, aber Husten."),
    ("Sprache", "Englisch", "Er spricht nicht nur Deutsch, sondern auch Englisch."),
    ("Síntoma", "tos", "Sin fiebre, pero con tos."),
    ("Injury", "fracture", "There was no injury except a fracture."),
]


@pytest.mark.parametrize(("entity_type", "value", "quote"), STATED)
def test_what_is_not_denied_is_not_called_so(entity_type, value, quote):
    assert denial(entity_type, value, quote).answer == "same"


def test_a_word_that_is_no_denial_in_another_language_is_only_doubted():
    assert denial("Local", "Porto", "no Porto", language="pt").answer == "same"
    assert denial("Symptom", "fever", "no fever", language="en").answer == "different"
    assert denial("Symptom", "fever", "no fever").answer == "not_comparable"


def test_a_denial_before_the_quote_counts():
    alone = denial("Citizenship", "Peru", "a citizen of Peru")
    widened = denial("Citizenship", "Peru", "a citizen of Peru", before="The claimant is not ")
    assert alone.answer == "same"
    assert widened.answer == "different"


def test_a_denial_after_the_quote_counts():
    assert denial("Drug", "Aspirin", "Aspirin", after=" was discontinued.").answer == "different"


def test_a_type_that_asks_for_what_is_denied_is_not_refused():
    for entity_type in (
        "Ruled-out Diagnosis",
        "Not Included",
        "Ausschlüsse",
        "What did he not find?",
    ):
        compared = denial(entity_type, "pneumonia", "No evidence of pneumonia.")
        assert compared.answer == "not_comparable"
        assert codes(compared) == {"denial_asked"}


def test_the_type_s_own_word_may_be_what_is_denied():
    compared = denial("Required Skill", "Cobol", "Cobol is welcome but not required.")
    assert compared.answer == "different"
    assert denial("Required Skill", "Cobol", "Cobol is required.").answer == "same"


def test_two_denials_leave_it_to_the_judge():
    compared = denial("Symptom", "pain", "She was never without pain.")
    assert compared.answer == "not_comparable"
    assert "denied_twice" in codes(compared)


def test_in_romance_languages_two_denials_are_one():
    assert denial("Sintomo", "febbre", "Non ha nessuna febbre.").answer == "different"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("pneumonia", "Pneumonia has not been ruled out."),
        ("pneumonia", "The doctor suspected a pneumonia."),
        ("fire", "If fire breaks out, leave."),
        ("Pneumonie", "Verdacht auf eine Pneumonie."),
        ("neumonía", "Se sospecha neumonía."),
    ],
)
def test_a_hypothesis_is_for_the_judge(value, quote):
    compared = denial("Diagnosis", value, quote)
    assert compared.answer == "not_comparable"
    assert "hypothetical" in codes(compared)
    assert denial("Suspected Diagnosis", value, quote).answer == "same"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("cancer", "His mother had cancer."),
        ("cancer", "Family history of breast cancer."),
        ("Krebs", "Seine Mutter hatte Krebs."),
        ("cáncer", "Su madre tiene cáncer."),
    ],
)
def test_what_another_person_surely_has_is_different(value, quote):
    compared = denial("Diagnosis", value, quote)
    assert codes(compared) == {"of_someone_else"}
    assert compared.answer == "different"
    assert denial("Family History", value, quote).answer == "same"


@pytest.mark.parametrize(
    ("entity_type", "value", "quote"),
    [
        ("Offence", "burglary", "The father of two was convicted of burglary."),
        ("Residence", "Leeds", "His mother gave him a house in Leeds."),
        ("Diagnosis", "cancer", "Mother with cancer attended."),
    ],
)
def test_a_word_for_a_relative_alone_is_a_doubt(entity_type, value, quote):
    compared = denial(entity_type, value, quote)
    assert compared.answer == "not_comparable"
    assert codes(compared) == {"someone_else_near"}


def test_what_is_denied_in_one_place_and_supposed_in_the_other_is_affirmed_nowhere():
    quote = "Pneumonia was ruled out. Return if pneumonia is suspected."
    compared = denial("Diagnosis", "pneumonia", quote)
    assert compared.answer == "different"
    assert codes(compared) == {"denied"}


def test_a_denial_in_one_place_is_no_contradiction_where_another_place_is_open():
    quote = "Pneumonia was ruled out. It was not the usual seasonal pneumonia."
    compared = denial("Diagnosis", "pneumonia", quote)
    assert compared.answer == "not_comparable"
    assert "denied" not in codes(compared)


def test_one_place_that_is_not_denied_is_enough():
    compared = denial("Symptom", "cough", "No cough in May. In June he had a cough.")
    assert compared.answer == "same"
    assert codes(compared) == {"denied_elsewhere"}


def test_a_person_beside_a_denial_is_only_doubted():
    compared = denial("Counsel", "Ann Lee", "The motion of Ann Lee was dismissed.", kind="name")
    assert compared.answer != "different"


def test_a_date_beside_a_denied_verb_is_not_denied():
    assert denial("Due Date", "5 May", "was not paid on 5 May", kind="date").answer == "same"
    assert denial("Due Date", "5 May", "due not 5 May but 6 May", kind="date").answer == "different"


def test_words_in_an_unread_language_are_for_the_judge_and_figures_are_not():
    polish = {"language": "pl"}
    assert denial("Objaw", "kaszel", "Pacjent ma kaszel.", **polish).answer == "not_comparable"
    assert denial("Wiek", "42", "Pacjent ma 42 lata.", kind="number", **polish).answer == "same"


def test_generic_types_ask_for_a_mention():
    assert denial("Organization", "WHO", "The WHO did not come. No WHO.").answer == "same"


def test_every_language_file_has_the_same_sections():
    for code, language in languages().items():
        assert language.sections.keys() - {"concord"} == SECTIONS, code
        assert all(phrases for phrases in language.sections.values())


def test_a_reading_is_linear_in_hostile_text():
    for text in (
        "no " * 20_000,
        "not without " * 5_000,
        "if, " * 9_000,
        "a" * 90_000,
        ", and" * 9_000,
    ):
        _, scopes = scoped(Passage(text))
        assert all(scope.end - scope.start <= 200 for scope in scopes)


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=60), st.data())
def test_nothing_raises(quote, before, after, data):
    places = tuple(
        Place(*sorted(pair))
        for pair in data.draw(
            st.lists(st.tuples(st.integers(0, len(quote)), st.integers(0, len(quote))), max_size=3)
        )
    )
    question = Question("Symptom", "x", Passage(quote, before, after))
    compared = read_denial(question, Comparison("same", "words", places))
    assert compared.places == places
    assert compared.answer in {"same", "different", "not_comparable"}


def test_a_denial_that_an_elided_quote_leaves_out_is_read() -> None:
    quote = "The claimant is … a citizen of Iran … born in 1980"
    denied = Passage(quote, between=("not", ""), language="en")
    asked = Question("Nationality", "citizen of Iran", denied)
    assert compare(asked).answer == "different"
    said = Passage(quote, between=("since 1990", "not"), language="en")
    assert compare(Question("Nationality", "citizen of Iran", said)).answer == "same"
    [place] = compare(asked).places
    assert quote[place.start : place.end] == "citizen of Iran"


def test_where_the_document_has_an_ellipsis_too_every_joint_is_read() -> None:
    passage = Passage("Well … he has … a fracture", between=("no sign of",), language="en")
    assert compare(Question("Injury", "fracture", passage)).answer != "same"


@given(st.lists(st.text(max_size=30), max_size=4), st.lists(st.text(max_size=30), max_size=4))
def test_a_place_of_an_elided_quote_is_found_again(parts: list[str], gaps: list[str]) -> None:
    quote = " … ".join([*parts, "the needle", *parts])
    reading = read(Passage(quote, between=tuple(gaps), language="en"))
    start = quote.index("the needle")
    first, last = reading.span(Place(start, start + len("the needle")))
    assert reading.words(first, last) == "the needle"


def test_a_contracted_not_before_a_figure_is_read() -> None:
    passage = Passage("The dose isn't 5 mg.", language="en")
    assert compare(Question("Dose", "5 mg", passage)).answer != "same"


@pytest.mark.parametrize("code", sorted(languages()))
def test_every_cue_that_turns_a_value_tells_of_itself(code: str) -> None:
    language = languages()[code]
    for section in ("no", "not", "after", "except", "if", "doubt"):
        for phrase in language.raw[section]:
            if "'" not in phrase:
                assert telling(code).among(small_words(phrase)), phrase


UNDONE = [
    ("Item", "infusion pumps", "The infusion pumps from Halden have not been ordered."),
    ("Item", "Vigil pumps", "Lot 2 (Vigil pumps) was not awarded."),
    ("Item", "infusion pumps", "Please strike the infusion pumps from our order."),
    ("Item", "infusion pumps", "| 3 | infusion pumps | 12 | cancelled |"),
    ("Item", "infusion pumps", "3   infusion pumps   12   480.00   CANCELLED"),
    ("Item", "infusion pumps", "3 infusion pumps, Vigil, 12 pcs – cancelled"),
    ("Item", "infusion pumps", "3 infusion pumps (cancelled 4 May)"),
    ("Item", "infusion pumps", "| 3 | infusion pumps | 12 | not ordered |"),
    ("Item", "infusion pumps", "3 infusion pumps, 12 pcs, 480.00 -- please strike"),
    ("Item", "infusion pumps", "The infusion pumps are struck from the list."),
    ("Item", "infusion pumps", "Please skip the infusion pumps, we have enough."),
    ("Artikel", "Spritzenpumpen", "Die Spritzenpumpen werden nicht bestellt."),
    ("Artikel", "Spritzenpumpen", "| 4 | Spritzenpumpen | 10 | storniert |"),
    ("Article", "pompes à perfusion", "Les pompes à perfusion ne sont pas commandées."),
    ("Artículo", "bombas", "Las bombas no han sido adjudicadas."),
]


@pytest.mark.parametrize(("entity_type", "value", "quote"), UNDONE)
def test_what_is_cancelled_or_not_ordered_is_another_value(entity_type, value, quote):
    assert "denied" in codes(denial(entity_type, value, quote))
    assert denial(f"Cancelled {entity_type}", value, quote).answer != "different"


@pytest.mark.parametrize(
    ("entity_type", "value", "quote"),
    [
        ("Item", "beds", "4 beds, 3 pumps (cancelled)"),
        ("Item", "beds", "beds: 4\npumps: cancelled"),
        ("Sender", "Merrow Ltd", "Sender: Merrow Ltd  Status: cancelled"),
        ("Item", "pumps", "The pumps arrived. You cancelled the beds."),
        ("Payer", "Gloria PAC", "Paid for by Gloria PAC not authorized by any candidate"),
    ],
)
def test_what_is_cancelled_beside_it_is_not_the_value(entity_type, value, quote):
    assert denial(entity_type, value, quote).answer == "same"


def test_what_dismisses_another_thing_is_not_dismissed():
    quote = "The Court of Appeal dismissed the action."
    assert codes(denial("Court", "Court of Appeal", quote)) == {"denial_near"}
    quote = "The appeal was dismissed."
    assert codes(denial("Remedy", "appeal", quote)) == {"denied"}


def test_a_cancelled_row_still_has_its_supplier():
    asked = Question("Supplier Company", "Merrow", Passage("| 3 | Merrow | cancelled |"))
    assert codes(compare(asked)) == {"denial_near"}


SUPERSEDED = [
    ("Item", "Corva 3", "Corva 2", "12 Corva 3 instead of Corva 2"),
    ("Item", "Corva 3", "Corva 2", "Corva 2 is replaced by Corva 3."),
    ("Item", "Corva 3", "Corva 2", "Corva 2, replaced by Corva 3"),
    ("Item", "Corva 3", "Corva 2", "Corva 3 replaces Corva 2."),
    ("Supplier", "Merrow", "Halden", "Merrow (formerly Halden)"),
    ("Artikel", "Corva 3", "Corva 2", "Corva 2 wird ersetzt durch Corva 3."),
    ("Produit", "Corva 3", "Corva 2", "le Corva 3 remplace le Corva 2"),
    ("Producto", "Corva 3", "Corva 2", "Corva 3 en lugar de Corva 2"),
    ("Prodotto", "Corva 3", "Corva 2", "Corva 2 è stato sostituito da Corva 3"),
    ("Product", "Corva 3", "Corva 2", "Corva 3 in plaats van Corva 2"),
    ("Produto", "Corva 3", "Corva 2", "Corva 2 foi substituído por Corva 3"),
]


@pytest.mark.parametrize(("entity_type", "new", "old", "quote"), SUPERSEDED)
def test_of_two_the_one_that_no_longer_holds_is_another_value(entity_type, new, old, quote):
    assert denial(entity_type, new, quote).answer == "same"
    assert codes(denial(entity_type, old, quote)) == {"superseded"}
    assert denial(f"Former {entity_type}", old, quote).answer == "same"


def test_a_figure_may_be_superseded_too():
    quote = "The total of 480 was corrected to 455."
    assert "superseded" in codes(denial("Total", "480", quote, "number"))
    assert denial("Total", "455", quote, "number").answer == "same"


def test_the_words_of_the_field_part_no_figure_from_what_says_that_it_held_earlier():
    quote = "Previously the monthly rent was 900."
    assert "superseded" in codes(denial("Monthly Rent", "900", quote, "number"))
    quote = "Previously all of the monthly rent was 900."
    assert "superseded" not in codes(denial("Deposit", "900", quote, "number"))


def test_what_was_replaced_by_nobody_named_has_no_other_in_its_place():
    assert "superseded" not in codes(denial("Part", "seal", "Replaced the seal."))
    assert "superseded" in codes(denial("Part", "seal", "A gasket replaced the seal."))


def test_what_was_scheduled_but_did_not_come_is_only_planned():
    quote = "Delivery was scheduled for 3 May but came on 7 May."
    assert "only_planned" in codes(denial("Delivery Date", "3 May", quote, "date"))
    assert denial("Delivery Date", "7 May", quote, "date").answer == "same"
    assert denial("Planned Date", "3 May", quote, "date").answer == "same"
    scheduled = "Delivery is scheduled for 3 May."
    assert denial("Delivery Date", "3 May", scheduled, "date").answer == "same"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("pneumonia", "suspected pneumonia"),
        ("pneumonia", "CT to rule out pneumonia"),
        ("Pneumonie", "Verdacht auf Pneumonie."),
    ],
)
def test_a_possible_value_is_only_supposed(value, quote):
    assert "only_supposed" in codes(denial("Diagnosis", value, quote))
    assert denial("Suspected Diagnosis", value, quote).answer == "same"
