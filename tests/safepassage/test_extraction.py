"""What may be given: values of every kind, and words for what is none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path

import pytest
from pydantic import BaseModel

from safepassage import Extraction, UnreadableFile, Verifier, read, read_all
from safepassage.extraction import json_of
from safepassage.schemas import Document, SchemaField
from safepassage.schemas import Extraction as Event
from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Passage, Question
from safepassage.service.messages import AskedExtraction
from tests.agents.intake.making import lines, pdf
from tests.agents.intake.test_texts import mail

from .scorers import WordScorer

TEXT = "The Tenant shall pay a monthly rent of £1,250. The lease begins on 3 May 2021."
RENT = Extraction("Rent", "£1,250", quote="a monthly rent of £1,250")


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    with Verifier(WordScorer()) as made:
        yield made


class Colour(Enum):
    RED = "red"


class Money(BaseModel):
    amount: Decimal
    due: date | None = None


@dataclass
class Span:
    begin: date


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(2021, 5, 3), "2021-05-03"),
        (datetime(2021, 5, 3, 14, 30), "2021-05-03T14:30:00"),
        (Decimal("1250.00"), "1250.00"),
        (Colour.RED, "red"),
        ((1, 2), [1, 2]),
        (
            Money(amount=Decimal("1250.50"), due=date(2021, 5, 3)),
            {"amount": "1250.50", "due": "2021-05-03"},
        ),
        (Span(date(2021, 5, 3)), {"begin": "2021-05-03"}),
        ({"on": [date(2021, 5, 3)]}, {"on": ["2021-05-03"]}),
    ],
    ids=repr,
)
def test_a_value_counts_as_the_json_that_pydantic_writes(value: object, expected: object):
    assert json_of(value) == expected


@pytest.mark.parametrize(
    ("value", "passage"),
    [
        (date(2021, 5, 3), "The lease begins on 3 May 2021."),
        (Decimal("1250.00"), "a monthly rent of £1,250"),
    ],
    ids=repr,
)
def test_such_values_are_compared_with_what_documents_write(value: object, passage: str):
    question = Question("Begin", json_of(value), Passage(passage))
    assert compare(question).answer == "same"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "leave out what was not found"),
        (b"5", "decode it first"),
        ({"a": [b"\xff"]}, "(decode it first|no JSON form)"),
        (object(), "class object has no JSON form"),
        ("a\ud800", "lone surrogate at 1"),
    ],
    ids=["nothing", "bytes", "bytes inside", "object", "surrogate"],
)
def test_a_value_that_is_none_says_why(verifier: Verifier, value: object, told: str):
    with pytest.raises(ValueError, match=f"extraction 1: .*{told}"):
        verifier.verify(TEXT, [Extraction("Rent", value, quote="q")])


def test_a_quote_with_a_lone_surrogate_says_where(verifier: Verifier):
    with pytest.raises(ValueError, match=r"extraction 1: context: .*lone surrogate at 1"):
        verifier.verify(TEXT, [Extraction("Rent", "5", quote="a\ud800")])
    with pytest.raises(ValueError, match="the text has a lone surrogate at 2"):
        verifier.verify("ab\ud800", [RENT])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "is None; give a list"),
        (RENT, r"one Extraction; give a list: \[extraction\]"),
        ({"type": "Rent"}, "is a dict"),
        ("Rent", "is a str"),
        ([{"type": "Rent", "value": "5", "quote": "q"}], "extraction 1 is a dict"),
        ([RENT, None], "extraction 2 is a NoneType"),
    ],
    ids=str,
)
def test_what_is_no_list_of_extractions_says_what_to_give(
    verifier: Verifier, given: object, told: str
):
    with pytest.raises(TypeError, match=told):
        verifier.verify(TEXT, given)
    with pytest.raises(TypeError, match=told):
        asyncio.run(verifier.averify(TEXT, given))


@pytest.mark.parametrize(
    ("given", "told"),
    [(b"text", "decode it first"), (None, "NoneType"), ({"text": "x"}, "dict")],
    ids=str,
)
def test_what_is_no_document_says_what_to_give(verifier: Verifier, given: object, told: str):
    with pytest.raises(TypeError, match=told):
        verifier.verify(given, [RENT])


def test_a_reask_that_gives_none_is_told(verifier: Verifier):
    wrong = Extraction("Rent", "£9", quote="a monthly rent of £1,250")
    with pytest.raises(TypeError, match="what reask gave is None"):
        verifier.verify(TEXT, [wrong], reask=lambda _: None)


def test_a_repr_shows_type_value_and_quote():
    assert repr(RENT) == "Extraction('Rent', '£1,250', quote='a monthly rent of £1,250')"
    assert len(repr(Extraction("Rent", "5" * 500, quote="q" * 500))) < 200


def test_two_fields_of_one_type_are_told_apart_by_their_paths(verifier: Verifier):
    quote = "a monthly rent of £1,250"
    given = [
        Extraction("Amount", "£9", quote, field=SchemaField(name=name))
        for name in ("claim.excess", "amount")
    ]
    feedback = verifier.verify(TEXT, given[:1]).feedback()
    assert "- claim.excess (Amount): £9" in feedback
    assert "- Amount: £9" in verifier.verify(TEXT, given[1:]).feedback()


def test_feedback_names_the_nearest_passage_of_a_quote_that_does_not_stand(verifier: Verifier):
    lost = Extraction("Begin", "June", quote="the lease will have begun about the middle of June")
    feedback = verifier.verify(TEXT, [lost]).feedback()
    assert 'The nearest passage of the document: "' in feedback
    assert "lease begins on" in feedback
    unlike = Extraction("Begin", "x", quote="§§§ ∆∆∆ ###")
    assert "nearest" not in verifier.verify(TEXT, [unlike]).feedback()


# --- files --------------------------------------------------------------------------------------


def test_a_file_is_read_with_its_layout_and_verified(verifier: Verifier, tmp_path: Path):
    path = tmp_path / "lease.pdf"
    path.write_bytes(pdf(lines("A first line.", "A monthly rent of £1,250 is due.")))
    document = read(path)
    assert (document.id, bool(document.layout)) == (str(path), True)
    by_document, by_path = (verifier.verify(given, [RENT]) for given in (document, path))
    assert [v.decision for v in by_path.verdicts] == ["accepted"]
    assert by_path == by_document
    assert "<svg" in by_path.html()


def test_a_file_without_a_document_says_why(tmp_path: Path):
    with pytest.raises(UnreadableFile, match="No such file"):
        read(tmp_path / "none.pdf")
    (tmp_path / "a.txt").write_bytes(b"\0\1\2")
    with pytest.raises(UnreadableFile, match="binary"):
        read(tmp_path / "a.txt")


def test_an_email_with_attachments_is_several_documents(tmp_path: Path):
    path = tmp_path / "claim.eml"
    path.write_bytes(mail(("page.html", b"<html><p>Price: 5.</p>")).as_bytes())
    every = read_all(path)
    assert len(every) > 1
    with pytest.raises(UnreadableFile, match=f"holds {len(every)} documents"):
        read(path)


def test_a_text_that_names_a_file_is_not_judged_as_a_text(
    verifier: Verifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lease.txt").write_text(TEXT)
    with pytest.raises(ValueError, match="name of a file"):
        verifier.verify("lease.txt", [RENT])
    assert verifier.verify(Path("lease.txt"), [RENT]).accepted


# --- one vocabulary -----------------------------------------------------------------------------


def test_files_topics_and_http_read_either_names_and_write_one():
    files = {"id": "1", "doc_id": "d", "entity_type": "Rent", "value": "5", "context": "q"}
    library = {"id": "1", "doc_id": "d", "type": "Rent", "value": "5", "quote": "q"}
    assert Event.model_validate(library) == Event.model_validate(files)
    assert b'"entity_type":"Rent"' in Event.model_validate(library).to_json()
    asked = {"type": "Rent", "value": "5", "quote": "q"}
    stored = {"entity_type": "Rent", "value": "5", "context": "q"}
    assert AskedExtraction.model_validate(asked) == AskedExtraction.model_validate(stored)


@pytest.mark.parametrize("model", [Event, AskedExtraction])
def test_a_field_under_both_names_is_refused(model: type[BaseModel]):
    row = {"id": "1", "doc_id": "d", "type": "A", "entity_type": "B", "value": "5", "quote": "q"}
    with pytest.raises(ValueError, match="the same field; give one"):
        model.model_validate(row)


def test_a_document_is_taken_as_it_is(verifier: Verifier):
    assert verifier.verify(Document(id="d", text=TEXT), [RENT]).verdicts[0].doc_id == "d"
