"""The label before a value, and the field that its words are of."""

import pytest

from safepassage.passages.surroundings.layout import DocumentLayout, with_surroundings
from safepassage.schemas import Alignment, SchemaField, Span, hypothesis
from safepassage.scoring_worker.comparison import Place
from safepassage.scoring_worker.evaluation.pair_rows import pair_of_row, row_of_pair
from safepassage.scoring_worker.evaluation.rows import PairRow
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.weighing.labels import (
    Heads,
    label_before,
    labels_of,
    names_another,
    nearer_by_words,
)
from safepassage.scoring_worker.weighing.opinion import Opinion
from safepassage.scoring_worker.weighing.opposites import excludes
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
        ("2019 | 4,240", "4,240", Heads(column="2018 | 2019"), []),
        ("Potassium 5.9 mmol/l", "5.9", Heads(), ["Potassium"]),
        ("Net: 4,240", "4,240", Heads("Net:"), ["Net!"]),
        ("Halden Medtech", "Halden", Heads("Invoice to:"), ["Invoice to!"]),
        ("signed by Halden Medtech", "Halden", Heads("Invoice to:"), ["signed by"]),
    ],
)
def test_columns_rows_and_the_words_before_a_value_are_its_labels(quote, value, heads, labels):
    at = quote.index(value)
    found = labels_of(f"Prices\n{quote}", at + 7, Place(7, 7 + len(quote)), heads)
    assert [one.text + "!" * one.names for one in found] == labels


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
    assert not excludes("Customer", "Contractor", "the customer that we work for")


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
