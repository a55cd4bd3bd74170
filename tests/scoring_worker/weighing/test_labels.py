"""The label before a value, and the field that its words are of."""

import pytest

from safepassage.passages.surroundings.layout import DocumentLayout, with_surroundings
from safepassage.schemas import Alignment, SchemaField, Span, hypothesis
from safepassage.scoring_worker.comparison import Place
from safepassage.scoring_worker.evaluation.rows import PairRow, pair_of_row, row_of_pair
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.weighing.labels import (
    Heads,
    label_before,
    labels_of,
    leads_of,
    names_another,
    nearer_by_words,
)
from safepassage.scoring_worker.weighing.opinion import Opinion
from safepassage.scoring_worker.weighing.opposites import counterparts, excludes
from safepassage.scoring_worker.weighing.other_fields import (
    better_field,
    by_words,
    excluding_label,
    questions,
)
from safepassage.scoring_worker.weighing.questions import parts_of

from .reading import ToldReader


@pytest.mark.parametrize(
    ("text", "value", "label"),
    [
        ("Bill to: Merrow Ltd", "Merrow", "Bill to"),
        ("Order\n- Vendor: Merrow Ltd", "Merrow", "Vendor"),
        ("Date: 3 May   Ship to: Ward 7", "Ward 7", "Ship to"),
        ("PO No.: 4711", "4711", "PO No."),
        ("Bill to:\nMerrow Ltd", "Merrow", None),
        ("at 08:15 Merrow came", "Merrow", None),
        ("Note: they said that it was Merrow", "Merrow", None),
        ("We all of us then agreed on this one: Merrow", "Merrow", None),
    ],
)
def test_a_label_stands_before_its_value_in_the_line(text, value, label):
    assert label_before(text, text.index(value)) == label


@pytest.mark.parametrize(
    ("quote", "value", "heads", "labels"),
    [
        ("4,240", "4,240", Heads("Boiler", "Net"), ["Net!", "Boiler"]),
        (
            "Boiler | 4,240 | 5,045",
            "5,045",
            Heads(column="Item | Net | Gross"),
            ["Gross!", "Boiler"],
        ),
        ("| Boiler | 4,240 |", "4,240", Heads(column="Item | Net"), ["Net!", "Boiler"]),
        ("Boiler   4,240   5,045", "4,240", Heads(column="Item   Net   Gross"), ["Net!", "Boiler"]),
        ("Boiler\t4,240", "4,240", Heads(column="Item\tGross"), ["Gross!", "Boiler"]),
        ("Boiler | 4,240", "4,240", Heads(column="Item | Net | Gross"), ["Boiler"]),  # which?
        ("Boiler | 4,240", "Boiler", Heads(column="Item | Net"), ["Item!"]),
        ("Boiler | 4,240\nPump | 910", "910", Heads(column="Item | Net"), ["Net!", "Pump"]),
        ("2019 | 4,240", "4,240", Heads(column="2018 | 2019"), []),
        ("Potassium 5.9 mmol/l", "5.9", Heads(), []),
        ("Net: 4,240", "4,240", Heads("Net:"), ["Net!"]),
        ("Halden Medtech", "Halden", Heads("Invoice to:"), ["Invoice to!"]),
        ("signed by Halden Medtech", "Halden", Heads("Invoice to:"), []),
    ],
)
def test_columns_and_rows_are_the_labels_of_a_value(quote, value, heads, labels):
    at = quote.index(value)
    found = labels_of(f"Prices\n{quote}", at + 7, Place(7, 7 + len(quote)), heads)
    assert [one.text + "!" * one.names for one in found] == labels


@pytest.mark.parametrize(
    ("text", "leads", "of_a_name"),
    [
        ("your quotation no. ", ["quotation", "your quotation"], True),
        ("Sent: our offer K-22 of ", ["of", "offer of", "our offer of"], False),
        ("serum potassium ", ["potassium", "serum potassium"], True),
        ("an offer and ", [], False),
    ],
)
def test_the_words_before_a_value_lead_to_it(text, leads, of_a_name):
    assert leads_of(text, len(text), named=False) == leads
    assert leads_of(text, len(text), named=True) == (leads if of_a_name else [])


@pytest.mark.parametrize(
    ("quote", "value", "column", "cell"),
    [
        ("Boiler | 4,240 | 5,045", "5,045", "Item | Net | Gross", "Gross: 5,045"),
        ("Boiler   4,240   5,045", "4,240", "Item   Net   Gross", "Net: 4,240"),
        ("| Gross | 5,045 |", "5,045", "Field | Entry", "Gross: 5,045"),
        ("Net | 4,240\nGross | 5,045", "5,045", "", "Gross: 5,045"),
        ("5,045", "5,045", "Gross", "Gross: 5,045"),
        ("Boiler | 4,240 | 5,045", "5,045", "Item | Net", " 5,045"),
        ("Gross 5,045", "5,045", "", "Gross 5,045"),
    ],
)
def test_a_cell_is_read_as_a_line_of_a_form(quote, value, column, cell):
    pair = Pair(quote, f"Total: {value}", "Total", value, column_head=column)
    (part,) = parts_of(pair)
    assert part.clause.passage == cell
    (place,) = part.comparison.places
    start = place.start + part.shift - part.clause_start
    assert part.clause.passage[start : start + len(value)] == value


def test_a_row_is_of_another_field_where_it_has_its_words_alone():
    others = ("Potassium", "Order Number")
    assert names_another("potassium", "Sodium", others)
    assert not names_another("potassium", "Potassium Level", others)
    assert not names_another("potassium", "K", others, "potassium in the serum")
    assert not names_another("Order", "Placed On", others)
    assert not names_another("Boiler", "Sodium", others)


def test_the_words_of_a_label_are_of_the_field_or_of_another():
    others = ("Buyer", "Invoice Address")
    assert nearer_by_words(["Delivery address"], "Delivery Site", others) == 0
    assert nearer_by_words(["Delivery place"], "Delivery Site", others) > 0
    assert nearer_by_words(["Invoice to"], "Delivery Site", others) < 0
    assert nearer_by_words(["Vendor"], "Supplier", others) == 0
    assert nearer_by_words(["Vendor"], "Supplier", others, "the vendor of the goods") > 0


def asked_of(line, field, others, answers, sure=0.0):
    """The finding for the value behind the label of ``line``; the reader finds ``answers``."""
    value = line.partition(": ")[2]
    schema = SchemaField.model_validate({"others": others})
    pair = Pair(line, hypothesis(field, value), field, value, field=schema)
    (part,) = parts_of(pair)
    tasks = questions(pair, part, Opinion("located", {"value_mean": sure}))
    read = ToldReader(dict.fromkeys(answers, value)).read(list(tasks.values()))
    if not tasks:
        return None
    return better_field(pair, tasks, part, dict(zip(tasks.values(), read, strict=True)))


def test_a_label_with_the_words_of_another_field_is_another_field():
    found = asked_of("Buyer: Merrow Ltd", "Supplier", ["Buyer"], ["Supplier", "Buyer"], sure=0.9)
    assert found is not None
    assert found.code == "another_field"
    assert "'Buyer'" in found.detail


def test_a_synonym_passes_where_the_reader_does_not_prefer_another_field():
    assert asked_of("Vendor: Merrow Ltd", "Supplier", ["Buyer"], ["Supplier", "Buyer"]) is None


def column_asked(field, others, *, column="", row="", answers=()):
    """The finding for "4,240" in a cell of that column and row."""
    schema = SchemaField.model_validate({"others": others})
    heads = {"column_head": column, "row_head": row}
    pair = Pair("4,240", f"{field}: 4,240", field, "4,240", field=schema, **heads)
    (part,) = parts_of(pair)
    tasks = questions(pair, part, Opinion("located", {"value_mean": 0.9}))
    read = ToldReader(dict.fromkeys(answers, "4,240")).read(list(tasks.values()))
    return tasks and better_field(pair, tasks, part, dict(zip(tasks.values(), read, strict=True)))


def test_the_head_of_a_column_or_row_names_another_field():
    both = ("Gross", "Net")
    assert column_asked("Gross", ["Net"], column="Net", answers=both).code == "another_field"
    assert not column_asked("Net", ["Gross"], column="Net", answers=both)
    assert column_asked("Gross", ["Net"], row="Net", answers=both).code == "another_field"
    assert not column_asked("Net", ["Gross Amount"], column="Amount", row="Net", answers=both)


def test_a_label_of_other_words_needs_a_reader_that_is_sure():
    assert asked_of("Customer: Merrow", "Contractor", ["Client"], ["Client"]) is not None


def test_of_what_the_reader_is_sure_only_a_label_of_another_field_is_asked():
    line = "Vendor: Merrow Ltd"
    schema = SchemaField.model_validate({"others": ["Buyer"]})
    pair = Pair(line, hypothesis("Supplier", "Merrow Ltd"), "Supplier", "Merrow Ltd", field=schema)
    (part,) = parts_of(pair)
    assert by_words(pair, part) == 0
    assert questions(pair, part, Opinion("located", {"value_mean": 0.9})) == {}
    assert len(questions(pair, part, Opinion("located", {"value_mean": 0.1}))) == 2


@pytest.mark.parametrize(
    ("label", "field", "excluded"),
    [
        ("Purchaser", "Supplier", True),
        ("Bill to", "Delivery Site", True),
        ("Käufer", "Verkäufer", True),
        ("Patient", "referring_doctor", True),
        ("Net weight", "GrossWeight", True),
        ("Approved by", "Purchaser", True),
        ("Offer", "Order Number", True),
        ("Subtotal", "Total", True),
        ("Requested by", "Purchaser", False),
        ("Grand total", "Total", False),
        ("Vendor", "Supplier", False),
        ("Buyer or seller", "Supplier", False),
        ("Customer", "Buyer of the Supplier", False),
        ("Merrow Ltd", "Supplier", False),
    ],
)
def test_a_label_of_the_other_side_excludes_the_field(label, field, excluded):
    assert excludes(label, field) is excluded


def test_words_before_a_value_exclude_a_field_alone_and_a_description_may_have_them():
    assert excludes("Potassium", "Sodium", alone=True)
    assert not excludes("Potassium tablets", "Sodium", alone=True)
    assert excludes("offer number", "Order Number", alone=True)
    assert not excludes("offer price", "Order Number", alone=True)
    assert not excludes("Customer", "Contractor", "the customer that we work for")


@pytest.mark.parametrize(
    ("field", "quote", "value", "excluded"),
    [
        ("Order Number", "with your quotation number K-22 of May", "K-22", True),
        ("Order Date", "our offer K-22 of 30 May", "30 May", True),
        ("Landlord", "signed by the tenant Bo Lee", "Bo Lee", True),
        ("Landlord", "signed by the landlord Bo Lee", "Bo Lee", False),
        ("Landlord", "the tenant and Bo Lee", "Bo Lee", False),
        ("Landlord", "the tenant of Bo Lee", "Bo Lee", False),
        ("Landlord", "Rooms of the tenant. Bo Lee signed", "Bo Lee", False),
        ("Order Number", "thanks for the offer, we order under K-22", "K-22", False),
    ],
)
def test_the_words_right_before_a_value_may_name_the_other_side(field, quote, value, excluded):
    pair = Pair(quote, f"{field}: {value}", field, value)
    (part,) = parts_of(pair)
    assert bool(excluding_label(pair, part)) is excluded


def test_a_field_has_counterparts_where_the_text_speaks_of_them():
    assert counterparts("order_number", "as in your quotation") == ("Quotation Number",)
    assert counterparts("Delivery Site", "send the invoice to") == ("Invoice Address",)
    assert counterparts("Purchaser", "Ann Roe has approved it") == ("Approver",)
    assert counterparts("Order Number", "as in your letter") == ()
    assert counterparts("Colour", "as in your quotation") == ()


def test_a_counterpart_competes_without_a_schema():
    quote = "Ann Roe has approved the purchase."
    pair = Pair(quote, "Purchaser: Ann Roe", "Purchaser", "Ann Roe")
    (part,) = parts_of(pair)
    tasks = questions(pair, part, Opinion("located", {"value_mean": 0.1}))
    assert list(tasks) == ["Purchaser", "Approver"]
    for answers, stopped in ((["Approver"], True), (["Purchaser", "Approver"], False)):
        read = ToldReader(dict.fromkeys(answers, "Ann Roe")).read(list(tasks.values()))
        found = better_field(pair, tasks, part, dict(zip(tasks.values(), read, strict=True)))
        assert bool(found) is stopped


def test_what_is_no_such_thing_competes_where_the_passage_denies():
    def asked(field, quote):
        pair = Pair(quote, f"{field}: shield", field, "shield")
        (part,) = parts_of(pair)
        return list(questions(pair, part, Opinion("located", {"value_mean": 0.1})))

    assert asked("Item", "The shield that you offered is not wanted.") == ["Item", "Not Item"]
    assert asked("Excluded Item", "The shield that you offered is not wanted.") == []
    assert asked("Item", "The shield that you offered is wanted.") == []


def test_no_schema_is_needed_for_a_label_of_the_other_side():
    line = "Purchaser: Merrow Ltd"
    pair = Pair(line, hypothesis("Supplier", "Merrow Ltd"), "Supplier", "Merrow Ltd")
    (part,) = parts_of(pair)
    assert excluding_label(pair, part).code == "another_field"


def test_a_pair_has_the_column_and_the_label_of_its_alignment():
    text = "Item | Net | Gross\nBoiler | 4,240 | 5,045\n"
    at = text.index("4,240")
    span = Span(start=at, end=at + 5, text="4,240")
    aligned = with_surroundings(
        Alignment(
            score=1,
            matches=5,
            length=5,
            unaligned=0,
            threshold=0.5,
            spans=(span,),
            route="verbatim",
        ),
        DocumentLayout(text),
    )
    pair = Pair.at(aligned, hypothesis="Gross: 4,240", entity_type="Gross", value="4,240")
    assert (pair.column_head, pair.row_head) == ("Net", "Boiler")
    several = aligned.model_copy(update={"surroundings": 2 * aligned.surroundings})
    assert (several.column_head, several.row_head) == ("", "")
    row = {**row_of_pair(pair), "label": 1}
    assert pair_of_row(PairRow.model_validate(row)) == pair
