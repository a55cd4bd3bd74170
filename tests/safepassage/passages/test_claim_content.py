"""What a sentence says without citation marks, markdown and lead-ins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.passages.claim_content import content_of


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The rent is **£2,500** a month [1].", "The rent is £2,500 a month ."),
        ("It is due [1, 2] now.[^3]", "It is due now."),
        ("It is due [Document 2] now 【3†source】.", "It is due now ."),
        ("It is due (see section 2).", "It is due ."),
        ("Es gilt (siehe Abschnitt 2).", "Es gilt ."),
        ("1. The rent is due.", "The rent is due."),
        ("> - ## The *rent* is `due`.", "## The rent is due ."),
        ("See [the lease](http://x.example/a_(b)) now.", "See the lease now."),
        ("| Rent | £2,500 |", "Rent £2,500"),
        ("Based on the context, it is due.", "it is due."),
        ("According to the provided passages: it is due.", "it is due."),
        ("Laut dem Text ist sie fällig.", "ist sie fällig."),
        ("Selon le contexte fourni, il est dû.", "il est dû."),
        ("Según el documento, se debe.", "se debe."),
    ],
)
def test_what_is_no_content_is_left_out(claim: str, said: str) -> None:
    assert content_of(claim).split() == said.split()


@pytest.mark.parametrize(
    "claim",
    [
        "2 * 3 is 6 and 2*3 too.",
        "The field a_b_c is set.",
        "[5 mg] were given in [2020].",
        "It has 5 m² of floor.",
        "According to the contract, it is due.",
        "From 5 May, the rent is due.",
        "3. Mai 2021 war der Termin.",
        "Section 2 (of 5) applies.",
        "[1]",
    ],
)
def test_what_is_content_stays(claim: str) -> None:
    assert content_of(claim) == claim


@given(st.text(alphabet="ab1[](){}*_#|-.,^ \n【】`", max_size=200))
def test_every_place_stays_where_it_is(claim: str) -> None:
    said = content_of(claim)
    assert len(said) == len(claim)
    assert all(mine in (" ", other) for mine, other in zip(said, claim, strict=True))
