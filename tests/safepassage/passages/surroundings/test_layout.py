"""What stands around a quote: exact slices, bounded, and the ones a reader would name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.passages.surroundings import DocumentLayout
from safepassage.schemas import Span, Surroundings
from safepassage.schemas.alignment import MAX_COLUMN, MAX_HEADING, MAX_LABEL, MAX_SIDE

LETTER = """DISCHARGE SUMMARY

Patient: Maria Lopez
Landlord: Peter Hahn. Tenant: Anna Kern.

2. Medication
| Drug | Dose | Frequency |
|------|------|-----------|
| Metformin | 850 mg | twice daily |
| Ramipril | 5 mg | once daily |

Item            Qty     Amount
Widget blue       2     10.00
Widget red       13      7.50

Allergies:
- penicillin
- latex

Decision

The panel found, after a hearing that took most of the day, that the claimant is
not a citizen of Iran. He was born on 3. Mai 1970 in Shiraz, as Mr. Smith has told the
panel. The claim is denied.

Name\tAge\tCity
Bob\t12\tRome
"""


CELL_GAP = re.compile(r"\s*[|\t\n]\s*| {2,}")


def spans(text: str, *quotes: str) -> list[Span]:
    found, at = [], 0
    for quote in quotes:
        start = text.index(quote, at)
        at = start + len(quote)
        found.append(Span(start=start, end=at, text=quote))
    return found


def around(text: str, quote: str) -> dict[str, str]:
    (found,) = DocumentLayout(text).around(spans(text, quote))
    names = ("before", "after", "label", "column", "heading")
    return {name: span.text for name, span in zip(names, found.slices, strict=True) if span}


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        (
            "Maria Lopez",
            {"before": "Patient: ", "label": "Patient:", "heading": "DISCHARGE SUMMARY"},
        ),
        ("Anna Kern", {"before": "Tenant: ", "after": ".", "label": "Tenant:"}),
        (
            "850 mg",
            {
                "before": "| Metformin | ",
                "after": " | twice daily |",
                "label": "Metformin",
                "column": "Dose",
                "heading": "2. Medication",
            },
        ),
        ("Ramipril | 5 mg", {"before": "| ", "column": "Drug | Dose"}),
        ("7.50", {"before": "Widget red       13      ", "column": "Amount"}),
        ("13", {"label": "Widget red", "column": "Qty"}),
        ("latex", {"label": "Allergies:"}),
        (
            "a citizen of Iran",
            {
                "before": "The panel found, after a hearing that took most of the day, "
                "that the claimant is\nnot ",
                "after": ".",
                "heading": "Decision",
            },
        ),
        (
            "born on 3. Mai 1970",
            {"before": "He was ", "after": " in Shiraz, as Mr. Smith has told the\npanel."},
        ),
        ("The claim is denied.", {"heading": "Decision"}),
        ("Rome", {"before": "Bob\t12\t", "label": "Bob", "column": "City"}),
    ],
)
def test_names_what_a_reader_would_see_around_the_quote(quote, expected):
    found = around(LETTER, quote)
    assert {name: found.get(name) for name in expected} == expected


def test_a_neighbouring_line_of_a_form_is_not_part_of_the_line():
    found = around("Landlord: Peter Hahn\nTenant: Maria Lopez\nRent: 900", "Maria Lopez")
    assert found == {"before": "Tenant: ", "label": "Tenant:"}


def test_a_label_on_the_line_above_names_the_line():
    assert around("Tenant:\nMaria Lopez\n", "Maria Lopez") == {"label": "Tenant:"}


def test_the_number_of_a_paragraph_makes_no_row_of_it():
    text = "1.   The claimants are brothers, aged 24 and 27, who came\nnot together. They fled."
    assert around(text, "together")["before"].startswith("1.   The claimants")


@pytest.mark.parametrize(
    "table",
    [
        "Metformin\ttablet\t850 mg\nRamipril\tcapsule\t5 mg\nInsulin\tsyringe\t12 mg",
        "| Bob | Tenant | £1,200.50 |\n| Ann | Lessor | £31 |\n| Eva | Agent | £7 |",
        "Bob     Tenant     3 May\nAnn     Lessor    17 March\nEva     Agent      9 July",
    ],
)
def test_the_first_row_of_a_table_without_a_head_is_none(table):
    for value in {"12 mg", "syringe", "£7", "Agent", "9 July"} & set(CELL_GAP.split(table)):
        assert "column" not in around(table, value)


@pytest.mark.parametrize(
    ("table", "quote", "head"),
    [
        ("Name\tCity\tQ1\nBob\tRome\t12\nAnn\tBari\t7", "7", "Q1"),
        ("Name\tCity\t2019\nBob\tRome\t12\nAnn\tBari\t7", "7", "2019"),
        ("Name\tCity\tDay 30\nBob\tRome\t12\nAnn\tBari\t7", "Bari", "City"),
        ("| Drug | Form | 5 mg |\n|---|---|---|\n| Ramipril | pill | 7 mg |", "7 mg", "5 mg"),
    ],
)
def test_a_head_with_figures_is_one_where_its_column_is_of_another_form(table, quote, head):
    assert around(table, quote)["column"] == head


def test_a_label_above_is_not_of_what_stands_two_paragraphs_below():
    text = "Allergies:\n- latex\n\nThe patient went home on Monday."
    assert "label" not in around(text, "went home")


def test_what_an_elision_leaves_out_of_a_sentence_is_told_once():
    text = "He said that the claimant is certainly not a citizen of Iran. Next."
    first, second = DocumentLayout(text).around(spans(text, "the claimant is", "a citizen of Iran"))
    assert first.after is not None
    assert first.after.text == " certainly not"
    assert second.before is not None
    assert second.before.text == "certainly not "


def test_scripts_without_blanks_have_sentences_too():
    text = "租赁合同。\n出租人不是王伟。承租人是李娜。"
    assert around(text, "王伟") == {"before": "出租人不是", "after": "。"}


@pytest.mark.parametrize(
    ("text", "day_first"),
    [
        ("on 13/5/2019 and 1/2/2019", True),
        ("on 5/13/2019", False),
        ("on 5.4.2019", None),
        ("13/5/2019 against 5/13/2019", None),
        ("version 1.13.2019.4 of 1/2", None),
    ],
)
def test_the_order_of_day_and_month_comes_from_dates_that_leave_no_choice(text, day_first):
    assert DocumentLayout(text).day_first is day_first


PIECES = st.one_of(
    st.sampled_from(("\n", "\r\n", "\r", "\u2028", " ", "  ", "    ", "\t", "|", ": ", "=====\n")),
    st.sampled_from((". ", "。", "…", "- ", "1. ", "#", "Label:", "WORD", "word", "12/5/2019")),
    st.sampled_from(("Ünïcode", "漢字", "é", "👩‍👩‍👧", "\x1c")),
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[Span]]:
    text = draw(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=80).map("".join)))
    places = draw(
        st.lists(st.tuples(*[st.integers(0, len(text))] * 2).map(sorted), min_size=1, max_size=5)
    )
    return text, [Span(start=a, end=b, text=text[a:b]) for a, b in places]


@given(documents())
def test_every_slice_is_the_documents_adjoins_its_passage_and_is_bounded(document):
    text, passages = document
    found = DocumentLayout(text).around(passages)
    assert len(found) == len(passages)
    for passage, surroundings in zip(passages, found, strict=True):
        for span in filter(None, surroundings.slices):
            assert text[span.start : span.end] == span.text != ""
        if surroundings.before:
            assert surroundings.before.end == passage.start
        if surroundings.after:
            assert surroundings.after.start == passage.end
        bounds = (MAX_SIDE, MAX_SIDE, MAX_LABEL, MAX_COLUMN, MAX_HEADING)
        for span, most in zip(surroundings.slices, bounds, strict=True):
            assert span is None or len(span.text) <= most
    assert MAX_LABEL + MAX_COLUMN + MAX_HEADING <= 200


@given(documents())
def test_asking_in_any_order_gives_the_same(document):
    text, passages = document
    layout = DocumentLayout(text)
    backwards = [layout.around([passage]) for passage in reversed(passages)]
    assert backwards[::-1] == [DocumentLayout(text).around([passage]) for passage in passages]


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        " ",
        "|",
        ". ",
        "a b. ",
        "Label:",
        "a  b\n",
        "x\n",
        "- a\n",
        "\n",
        "a|b\n",
        "\t",
        "...",
        "A: ",
    ],
)
def test_nothing_grows_with_the_document(unit):
    # Work that is quadratic in the document would meet the suite's time limit here.
    text = (unit * (300_000 // len(unit)))[:300_000]
    layout = DocumentLayout(text)
    layout.around([Span(start=0, end=1, text=text[:1])])  # what is done once a document
    places = range(1_000, 299_000, 29_800)
    for place in places:
        (found,) = layout.around([Span(start=place, end=place + 3, text=text[place : place + 3])])
        assert len(Surroundings.model_dump_json(found)) < 10_000


def test_many_parts_hold_no_more_than_a_few():
    text = "word another " * 2_000
    parts = [Span(start=at, end=at + 8, text=text[at : at + 8]) for at in range(0, 20_000, 50)]
    found = DocumentLayout(text).around(parts)
    sides = sum(len(s.text) for f in found for s in (f.before, f.after) if s)
    assert sides <= 4 * MAX_SIDE
