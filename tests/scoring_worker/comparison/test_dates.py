"""Dates as people write them, one line a trap."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker.comparison import Comparison, Passage
from safepassage.scoring_worker.comparison.dates import compare_date, date_of_value, dates_in


def compared(
    value: object, quote: str, language: str | None = "en", **around: object
) -> Comparison:
    date = date_of_value(value, language, "Date")
    assert date is not None
    return compare_date(date, Passage(quote, language=language, **around))


def codes(comparison: Comparison) -> list[str]:
    return [finding.code for finding in comparison.findings]


SAME = [
    # the month in words, on either side, in many tongues
    ("2012-01-17", "Jan. 17th, 2012", "en"),
    ("2012-01-17", "17JAN2012", "en"),
    ("2012-01-17", "2012-Jan-17", "en"),
    ("2012-01-17", "JANUARY 17, 2012", "en"),
    ("2012-01-17", "17\u00a0January\n2012", "en"),
    ("2012-01-17", "17 Janu\u00adary 2012", "en"),
    ("2012-01-17", "the 17th day of January, 2012", "en"),
    ("2012-01-17", "17 january 12", "en"),
    ("2012-10-17", "Oct 17 '12", "en"),
    ("2012-01-17", "17 de enero de 2012", "es"),
    ("2012-01-01", "le 1er janvier 2012", "fr"),
    ("2012-03-17", "17 Maerz 2012", "de"),
    ("2012-01-17", "17-го января 2012 г.", "ru"),
    ("2012-01-17", "2012. január 17-én", "hu"),
    ("2012-01-17", "17 Ocak 2012'de", "tr"),
    ("2012-01-17", "tammikuun 17. päivänä 2012", "fi"),
    ("2012-01-17", "2012. gada 17. janvārī", "lv"),
    ("2012-10-17", "17. listopada 2012.", "hr"),
    ("2012-11-17", "17 listopada 2012", "pl"),
    ("2012-01-17", "17 בינואר 2012", "he"),
    ("2012-01-17", "17 كانون الثاني 2012", "ar"),
    ("2012-01-17", "ngày 17 tháng 1 năm 2012", "vi"),
    ("2012-01-17", "วันที่17มกราคม2012", "th"),
    # digits of other scripts, and ideographs
    ("2012-01-17", "١٧ يناير ٢٠١٢", "ar"),
    ("2012-01-17", "١٧/١/٢٠١٢", "ar"),
    ("2012-01-17", "१७ जनवरी २०१२", "hi"),
    ("2012-01-17", "2012年1月17日に開催", "ja"),
    ("2012-01-17", "二〇一二年一月十七日", "zh"),
    ("2012-01-17", "2012년 1월 17일에", "ko"),
    # in words
    ("2022-04-15", "Signed this fifteenth day of April 2022.", "en"),
    ("2012-01-17", "the seventeenth of January two thousand and twelve", "en"),
    ("2012-01-21", "January twenty-first, 2012", "en"),
    ("2012-01-17", "el diecisiete de enero de dos mil doce", "es"),
    # in digits
    ("2012-01-17", "2012-01-17T14:30:00Z", "en"),
    ("2012-01-17", "20120117", "en"),
    ("2012-01-17", "17 01 2012", "en"),
    ("2012-01-17", "17. 1. 2012", "cs"),
    ("2012-01-17", "(17.01.2012)", "de"),
    ("2012-01-17", "Date:2012-01-17.", "en"),
    ("2012-01-17", "1/17/2012", "de"),
    ("2012-05-03", "03.05.2012", None),
    ("2012-05-03", "03/05/2012", "de"),
    ("2012-10-17", "17.X.2012", "pl"),
    ("1984-03-02", "02.03.84", "de"),
    ("1912-01-17", "17/1/12", "fr"),
    ("2012-01-17", "17/1/12", "fr"),
    ("03/05/2012", "03/05/2012", "en"),
    # less than the passage says
    ("2012-01", "on 17 January 2012", "en"),
    ("2012", "on 17 January 2012", "en"),
    ("30 June", "30 June 2021", "en"),
    # ranges and lists
    ("2012-01-17", "January 17-19, 2012", "en"),
    ("2012-01-19", "January 17-19, 2012", "en"),
    ("2012-01-18", "on 17, 18 and 19 January 2012", "en"),
    ("2012-01-17", "17.-19.01.2012", "de"),
    ("2012-12-17", "17.12. – 19.12.2012", "de"),
    ("2012-01-19", "17/01/2012-19/01/2012", "en"),
    ("2012-03-04", "March 4 and April 26, 2012", "en"),
    ("2012-01-17", "17 January - 3 February 2012", "en"),
    ("2014", "2012–2014", "en"),
    ("2019", "2019/20 season", "en"),
    # quarters
    ("Q3 2021", "in Q3 2021", "en"),
    ("Q3 2021", "the third quarter of 2021", "en"),
    ("Q3 2021", "3. Quartal 2021", "de"),
    ("Q3 2021", "T3 2021", "fr"),
    # times
    ("2012-01-17T14:30:00", "17 January 2012 at 2.30 pm", "en"),
    ("2012-01-17T14:30:00", "le 17 janvier 2012 à 14h30", "fr"),
    ("2012-01-17T14:30:00Z", "2012-01-17T16:30:00+02:00", "en"),
    ("2012-01-17T00:00:00Z", "17 January 2012", "en"),
    ("14:30", "at 2.30 pm", "en"),
    ("2:30 pm", "at 2:30\u00a0pm", "en"),
    ("1:45", "at 1:45 PM", "en"),
    # parts of a month or a year, and years that words are written onto
    ("1954", "in early 1954", "en"),
    ("2007", "in 2007-he said", "en"),
    ("2009-03-26", "moved from 2009-03-26 to 17 August 2023", "en"),
    ("March 16", "on March 16, the White House", "en"),
]  # fmt: skip

DIFFERENT = [
    ("2021-06-15", "15. Juli 2021", "de", "date_differs"),
    ("2012-01-20", "January 17-19, 2012", "en", "date_differs"),
    ("2012-01-07", "17 January 2012", "en", "date_differs"),
    ("2012-11-17", "17. listopada 2012.", "hr", "date_differs"),
    ("2012-02-17", "w styczniu 2012", "pl", "date_differs"),
    ("2021-07-30", "the end of June", "en", "date_differs"),
    ("2013", "2012–2014", "en", "date_differs"),
    ("Q3 2021", "in Q2 2021", "en", "date_differs"),
    ("2012-01-17", "in January 2012", "en", "date_more_precise"),
    ("2021-08-15", "in Q3 2021", "en", "date_more_precise"),
    ("2021-06-30", "30 June", "en", "date_more_precise"),
    ("2012-01-17", "no date here at all", "en", "date_missing"),
    ("2021-01-18", "INV-2021-01-17-0013", "en", "date_missing"),
    ("2012-01-17", "host 192.168.1.12", "en", "date_missing"),
    ("2003-02-01", "version 1.2.3", "en", "date_missing"),
    ("2012-01-17", "call 555-2012", "en", "date_missing"),
    ("1999-05-03", "$1,999.05", "en", "date_missing"),
    ("2012", "2,012 units", "en", "date_missing"),
    ("2012-01-17T14:30:00", "17 January 2012 at 3.30 pm", "en", "time_differs"),
    ("14:30", "um 15:30 Uhr", "de", "time_differs"),
]

OPEN = [
    ("2012-05-03", "03/05/2012", "en", "date_ambiguous"),
    ("2012-05-03", "03/05/2012", None, "date_ambiguous"),
    ("2012-10-17", "17. listopada 2012.", None, "date_ambiguous"),
    ("2021-06-30", "the end of June", "en", "date_vague"),
    ("2020-01-02", "early 2020", "en", "date_vague"),
    ("2020-03-15", "mid-March 2020", "en", "date_vague"),
    ("2020-06-01", "summer 2020", "en", "date_vague"),
    ("1950", "circa 1950", "en", "date_vague"),
    ("2021-12-31", "Ende 2021", "de", "date_vague"),
    ("2021-06-30", "fin juin 2021", "fr", "date_vague"),
    ("2021-06-30", "a finales de junio de 2021", "es", "date_vague"),
    ("2021-06-30", "в конце июня 2021", "ru", "date_vague"),
    ("2021-06-30", "kesäkuun lopussa 2021", "fi", "date_vague"),
    ("2021-06-30", "2021年6月末", "ja", "date_vague"),
    ("2012-01-17", "l7 January 2O12", "en", "date_unread"),
    ("2012-01-17", "l7/01/2O12", "en", "date_unread"),
    ("2012-01-17", "17 Janvary 2012", "en", "date_unread"),
    ("2012-01-17", "17 0ctober 2012", "en", "date_unread"),
    ("2021-01-17", "INV-2021-01-17-0013", "en", "date_in_identifier"),
    ("2012-01-17", "three weeks later", "en", "date_relative"),
    ("2012-01-17", "hakuna tarehe hapa", "sw", "date_not_seen"),
    ("2012-01-17", "no date here at all", None, "date_not_seen"),
    ("2012-01-17", "w styczniu 2012", "pl", "date_precision_unsure"),
    ("2012-01-17", "平成24年1月17日", "ja", "date_other_calendar"),
    ("2023-08-01", "14 Muharram 1445", "en", "date_other_calendar"),
    ("2012-01-17", "17 มกราคม 2555", "th", "date_other_calendar"),
    ("2012-01-17", "17 มกราคม พ.ศ. 2555", "th", "date_other_calendar"),
    ("2023-09-16", "א׳ בתשרי תשפ״ד", "he", "date_other_calendar"),
    ("2012-01-17T23:30:00Z", "18 January 2012, 00:30", "en", "date_zone"),
    ("14:30", "at 2:30", "en", "time_ambiguous"),
]


@pytest.mark.parametrize(("value", "quote", "language"), SAME)
def test_a_date_is_the_same_however_it_is_written(value: str, quote: str, language: str) -> None:
    found = compared(value, quote, language)
    assert (found.answer, codes(found)) == ("same", [])


@pytest.mark.parametrize(("value", "quote", "language", "code"), DIFFERENT)
def test_another_date_is_different(value: str, quote: str, language: str, code: str) -> None:
    found = compared(value, quote, language)
    assert (found.answer, codes(found)) == ("different", [code])


@pytest.mark.parametrize(("value", "quote", "language", "code"), OPEN)
def test_what_decides_nothing_is_not_comparable(
    value: str, quote: str, language: str, code: str
) -> None:
    found = compared(value, quote, language)
    assert (found.answer, codes(found)) == ("not_comparable", [code])


def test_places_are_of_the_quote_as_given_and_rivals_are_the_other_dates() -> None:
    quote = "Rechnungsdatum:\u00a003.05.2023 \u2013 Fällig am: 2. Juni 2023"
    found = compared("2023-06-02", quote, "de")
    assert [quote[place.start : place.end] for place in found.places] == ["2. Juni 2023"]
    assert [quote[place.start : place.end] for place in found.rivals] == ["03.05.2023"]


def test_the_documents_other_dates_decide_day_and_month() -> None:
    assert compared("2012-05-03", "03/05/2012", day_first=True).answer == "same"
    assert compared("2012-03-05", "03/05/2012", day_first=True).answer == "different"
    assert compared("2012-05-03", "03/05/2012", after="and 17/06/2012").answer == "same"


def test_a_format_beside_the_date_outranks_the_documents_other_dates() -> None:
    asked = {"heading": "Delivery (mm/dd/yyyy)", "day_first": True}
    assert compared("2026-04-09", "04/09/2026", **asked).answer == "same"
    assert compared("2026-09-04", "04/09/2026", **asked).answer == "different"


def test_day_and_month_without_a_year_follow_the_same_order() -> None:
    assert codes(compared("9 April", "on 4/9")) == ["date_ambiguous"]
    assert compared("9 April", "on 4/9", day_first=False).answer == "same"
    assert compared("9 April", "am 4.9.", "de").answer != "same"


def test_a_date_beside_the_quote_is_not_quoted() -> None:
    found = compared("2012-01-17", "the contract", before="On 17 January 2012")
    assert (found.answer, codes(found)) == ("different", ["date_outside_quote"])


def test_a_year_in_the_heading_leaves_the_day_in_the_row_open() -> None:
    found = compared("2012-01-17", "17 January: 340", heading="Visitors 2012")
    assert (found.answer, codes(found)) == ("not_comparable", ["date_completed"])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"yyyy": 2012, "mm": 1, "dd": 17}, "2012-01-17"),
        ({"year": "2012", "month": "January"}, "2012-01"),
        ({"year": 2012.0}, "2012"),
        ("2012-01-17", "2012-01-17"),
        ("Tuesday, the 17th of January 2012", "2012-01-17"),
        ("2012-01-17T14:30:00+02:00", "2012-01-17 14:30:00"),
        ("17/1/84", "'84-01-17"),
        ("1999", "1999"),
        (1999, "1999"),
    ],
)
def test_a_value_is_a_date_in_any_form(value: object, shown: str) -> None:
    assert str(date_of_value(value, None, "Date")) == shown  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        None, True, [], ["2012"], {}, {"name": "x"}, {"yyyy": 2012, "name": "x"}, {"mm": 13},
        {"yyyy": 2012, "mm": 2, "dd": 30}, {"year": float("nan")}, {"year": "9" * 5000},
        "", "present", "12.5", "about 2012", "the end of June", "2012-02-30", "2012 units",
        "17 January 2012 in Paris", "January 17-19, 2012", "three years", "9" * 5000, 12,
    ],
)  # fmt: skip
def test_what_is_no_date_is_none(value: object) -> None:
    assert date_of_value(value, None, "Date") is None  # type: ignore[arg-type]


def test_a_number_or_the_name_of_a_month_is_a_date_only_where_one_is_asked_for() -> None:
    assert date_of_value("May", "en", "First Name") is None
    for other in ("Units", "Monthly Rent", "Percentage", "Names", "Piano", "Data Points", "Days"):
        assert date_of_value(2012, "en", other) is None
        assert date_of_value("2012", "en", other) is None
    for asked in ("GraduationYear", "founded", "Baujahr", "Año de fundación", "Data di nascita"):
        assert date_of_value(2012, None, asked) == date_of_value("2012", None, asked) is not None
    assert date_of_value("May", "en", "Start Month") is not None


def test_every_date_stands_where_the_text_has_it() -> None:
    text = "Am 3.5.2023 (Mittwoch) und am 1. Juni 2023; Q3 2021, 2020年1月2日"
    found = dates_in(text, "de")
    assert [text[date.start : date.end] for date in found] == [
        "3.5.2023", "1. Juni 2023", "Q3 2021", "2020年1月2日",
    ]  # fmt: skip
