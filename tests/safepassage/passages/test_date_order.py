"""Which of day and month a text writes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.passages.date_order import day_first_of


@pytest.mark.parametrize(
    ("text", "day_first"),
    [
        ("signed on 17/01/2012, in force from 02/03/2012", True),
        ("signed on 01/17/2012", False),
        ("signed on 01/17/2012 and 17/01/2012", None),
        ("17.01.2012 in one place, 02/03/2012 in another", True),
        ("batch 17/01/2012-A and file 2012/17/01", None),
        ("on 40/50/2012", None),
        ("Arrival (dd/mm/yyyy): 04/09/2026", True),
        ("Arrival [MM-DD-YY]: 04-09-26", False),
        ("Ankunft (TT.MM.JJJJ) 04.09.2026", True),
        ("Arrivée (JJ/MM/AAAA)", True),
        ("Arrivo GG/MM/AAAA", True),
        ("Varış GG.AA.YYYY", True),
        ("Приезд ДД.ММ.ГГГГ", True),
        ("Give day, month, year; else month/day/year", None),
        ("Write month/day/year. Born 17/01/2012.", False),
        ("yyyy-mm-dd", None),
        ("add/mm/yyyyy", None),
        ("04/09/2026", None),
    ],
)
def test_a_written_format_decides_and_then_dates_that_can_be_read_in_one_way(
    text: str, day_first: bool | None
) -> None:
    assert day_first_of(text) is day_first


@given(st.text(alphabet="dmyDMYtjag0123456789/.- "))
def test_no_text_makes_it_fail(text: str) -> None:
    assert day_first_of(text) in (True, False, None)
