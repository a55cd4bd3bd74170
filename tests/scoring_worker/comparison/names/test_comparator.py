"""Names in a quote: the same, another, or not to be told."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison.contract import Comparison, Passage
from safepassage.scoring_worker.comparison.names.comparator import compare_names
from safepassage.scoring_worker.text.folding import keys_of

PEOPLE = {
    "Latn": "Jonathan Whitfield",
    "Cyrl": "Григорий Тихонов",
    "Grek": "Σταύρος Δημητρίου",
    "Armn": "Տիգրան Մարտիրոսյան",
    "Geor": "თამარ ქავთარაძე",
    "Arab": "يوسف الخطيب",
    "Hebr": "יוסף גולדשטיין",
    "Deva": "सुनीता चौधरी",
    "Beng": "সুচিত্রা মুখার্জি",
    "Taml": "செல்வராஜ் முருகன்",
    "Telu": "లక్ష్మి నారాయణ",
    "Hang": "박서연 대표",
    "Hani": "欧阳文静",
    "Kana": "スズキ タロウ",
    "Thai": "สมชาย ใจดี",
    "Ethi": "ታደሰ በቀለ",
    "Khmr": "សុខា ចាន់",
    "Mymr": "အောင်ကျော်",
}


def compare(value: str, quote: str, entity_type: str = "Person") -> Comparison:
    return compare_names(value, Passage(quote), entity_type)


def shown(comparison: Comparison, quote: str) -> list[str]:
    return [quote[place.start : place.end] for place in comparison.places]


@pytest.mark.parametrize(
    ("value", "quote", "place"),
    [
        ("John Smith", "Signed by John Smith on behalf of the board.", "John Smith"),
        ("JOHN SMITH", "Signed by John Smith.", "John Smith"),
        ("Dr. John Smith", "Signed by John Smith.", "John Smith"),
        ("John Smith", "Smith, John (born 1960)", "Smith, John"),
        ("Smith, John", "Signed by John Smith.", "John Smith"),
        ("John Smith", "Signed by John Ronald Smith.", "John Ronald Smith"),
        ("J. R. Smith", "Signed by John Ronald Smith.", "John Ronald Smith"),
        ("Ludwig van Beethoven", "composed by Ludwig van Beethoven", "Ludwig van Beethoven"),
        ("José García", "el señor Jose Garcia compareció", "Jose Garcia"),
        ("Mueller", "Herr Müller kam", "Müller"),
        ("Sean O'Brien", "Mr Sean O’Brien", "Sean O’Brien"),
        ("Anne-Marie Weiss", "Anne Marie Weiß wohnt hier", "Anne Marie Weiß"),
        ("김민수", "김민수는 서울에서 태어났다", "김민수는"),
        ("王伟", "法定代表人：王 伟", "王 伟"),
        ("Charlotte Church", "Patient: Charlotte Church", "Charlotte Church"),
    ],
)
def test_the_same_name_is_found_where_it_stands(value: str, quote: str, place: str) -> None:
    found = compare(value, quote)
    assert found.answer == "same"
    assert shown(found, quote) == [place]


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("Marta Jensen", "Judge: Marta Jansen"),
        ("Hans Meier", "vertreten durch Hans Meyer"),
        ("Jon Smith", "Signed by John Smith."),
        ("Meier", "Herr Meyer kam."),
        ("John Smith", "Signed by John Miller."),
        ("Peter Smith", "It was signed by Anna Smith."),
        ("P. Smith", "It was signed by J. Smith."),
        ("John Ronald Smith", "Signed by John Peter Smith."),
        ("John Smith", "It was signed by Peter Jones."),
        ("Олег Сидоров", "Директор Иван Петров подписал договор."),
        ("李娜", "姓名：王伟，男"),
        ("王小明", "申请人王小亮出席"),
        ("박지영", "이름: 김민수"),
        ("श्याम लाल", "नाम: राम कुमार"),
    ],
)
def test_another_persons_name_is_different(value: str, quote: str) -> None:
    found = compare(value, quote)
    assert found.answer == "different"
    assert [finding.code for finding in found.findings] == ["name_differs"]


@pytest.mark.parametrize(
    ("value", "quote", "code"),
    [
        ("John Smith", "Signed by J. Smith.", "name_initial"),
        ("Anna Smith", "Ms. Smith resigned.", "name_partial"),
        ("Anna Smith", "It was President Smith who signed.", "name_partial"),
        ("John Ronald Smith", "Signed by John Smith.", "name_partial"),
        ("Иван Петров", "Договор подписан Иваном Петровым вчера.", "name_inflected"),
        ("Jan Kowalski", "Umowa zawarta z Janem Kowalskim w Krakowie.", "name_inflected"),
        ("Ivanov", "Директор Иванов подписал договор.", "name_transliterated"),
        ("Arnold Berg", "Signed by Amold Berg.", "name_close"),
        ("張偉", "法定代表人：张伟", "name_close"),
        ("王伟", "王先生到场", "name_partial"),
        ("John Brown", "Present: John Smith and Mary Brown.", "name_partial"),
        ("Hans Müller", "Der Vorsitzende Richter Müller eröffnet.", "name_partial"),
    ],
)
def test_what_cannot_be_told_is_left_to_the_judge(value: str, quote: str, code: str) -> None:
    found = compare(value, quote, "Person" if code != "name_partial" else "Judge")
    assert found.answer == "not_comparable"
    assert code in [finding.code for finding in found.findings]


def test_a_given_name_and_another_mans_surname_are_not_one_name() -> None:
    assert compare("John Brown", "Present were John Smith, Anna Brown.").answer != "same"
    assert compare("John Smith", "Present were Anna Smith, John Brown.").answer != "same"


@pytest.mark.parametrize(
    ("value", "quote", "answer"),
    [
        ("Acme Inc.", "Acme Incorporated sells anvils.", "same"),
        ("Acme GmbH", "Die Acme G.m.b.H. verkauft.", "same"),
        ("Acme", "Acme, LLC sells anvils.", "same"),
        ("Acme GmbH", "Die Acme AG verkauft.", "different"),
        ("Bank of America", "a loan from Bank of England", "different"),
        ("FDA", "The Food and Drug Administration approved it.", "same"),
        ("FTC", "The Food and Drug Administration approved it.", "different"),
        ("World Health Organization", "The WHO declared it.", "not_comparable"),
        ("World Trade Organization", "The WHO declared it.", "different"),
        ("Intel Business Machines", "She works at IBM.", "not_comparable"),
        ("ソニー", "トヨタ自動車の社長", "different"),
        ("トヨタ自動車", "トヨタ自動車の社長", "same"),
    ],
)
def test_companies_with_their_forms_and_acronyms(value: str, quote: str, answer: str) -> None:
    assert compare(value, quote, "Company").answer == answer


def test_an_acronym_is_not_spelt_by_any_initials() -> None:
    found = compare("CIA", "It came in a box.", "Agency")
    assert found.answer != "same"


def test_a_name_beside_the_quote_is_not_quoted() -> None:
    passage = Passage("She resigned on 4 May.", before="Anna Berg joined in 2010.")
    found = compare_names("Anna Berg", passage, "Person")
    assert found.answer == "not_comparable"
    assert "outside_quote" in [finding.code for finding in found.findings]


@settings(deadline=None)
@given(st.sampled_from(sorted(PEOPLE)), st.data())
def test_a_name_with_one_letter_changed_is_never_the_same(script: str, data: st.DataObject) -> None:
    name = PEOPLE[script]
    letters = [at for at, letter in enumerate(name) if letter.isalpha()]
    at = data.draw(st.sampled_from(letters))
    other = data.draw(st.sampled_from(sorted({c.lower() for c in name if c.isalpha()})))
    changed = f"{name[:at]}{other}{name[at + 1 :]}"
    assume(keys_of(changed).plain != keys_of(name).plain)  # accents are noted and no more
    for quote in (name, f"({name}), 2020"):
        found = compare(changed, quote, "Name")
        assert found.answer != "same"
        assert found.findings


@settings(deadline=None)
@given(st.sampled_from(["Meier", "Jansen", "Whitfield", "Okonkwo", "Delacroix"]), st.data())
def test_a_changed_surname_is_different(surname: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(surname) - 1))
    letter = data.draw(st.sampled_from("aeghkmopqtxyz"))
    other = f"{surname[:at]}{letter}{surname[at + 1 :]}"
    assume(letter != surname[at].lower() and not other.endswith(f"{surname[:-1]}s"))
    quote = f"It was signed by Martha {surname} for the board of the bank."
    assert compare(f"Martha {other.capitalize()}", quote).answer == "different"


@pytest.mark.parametrize(
    ("entity_type", "value", "quote", "answer"),
    [
        ("Agency", "North Coastal Fish Board", "the North Costal Fish Board", "not_comparable"),
        ("Agency", "North Coastal Fish Board", "the North Coestal Fish Board", "different"),
        ("Person", "Anna Maria von Schmidt", "Anna Maria von Schmid came", "different"),
        ("Organization", "Federal Court", "upheld by the Federal Court11, and", "not_comparable"),
        ("Body", "Royal Court of Appeal", "the Royal Court (R.C.) of Appeal", "same"),
    ],
)  # fmt: skip
def test_typing_errors_notes_and_brackets_in_long_names(entity_type, value, quote, answer):
    assert compare_names(value, Passage(quote, language="en"), entity_type).answer == answer
