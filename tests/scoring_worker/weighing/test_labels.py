"""The label before a value, and the field that its words are of."""

import pytest

from safepassage.schemas import SchemaField, hypothesis
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.weighing.labels import label_before, nearer_by_words
from safepassage.scoring_worker.weighing.opinion import Opinion
from safepassage.scoring_worker.weighing.other_fields import better_field, by_words, questions
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
