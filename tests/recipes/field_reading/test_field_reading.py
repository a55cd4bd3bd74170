"""One reading for all fields: what a pass holds, what it is taught, and a run that goes on."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recipes.field_reading.corpus import Corpus
from recipes.field_reading.examples import (
    MAX_FIELDS,
    Example,
    FieldRow,
    Span,
    TextTokens,
    field_example,
    question_example,
    statement_example,
    windows,
)
from recipes.field_reading.fit import CHECKPOINT, WEIGHTS, FieldFit, batches_of, fit
from recipes.field_reading.loss import spans_loss
from recipes.field_reading.measure import judged, statements_auroc
from recipes.field_reading.model import FieldReader
from recipes.field_reading.rows import LabelledDocument, labelled_documents
from tests.scoring_worker import tiny

TEXT = "The buyer, Vela Ltd, pays Orm Co 40 crowns."


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    base = tmp_path_factory.mktemp("base")
    tiny.tokenizer(512).save_pretrained(base)
    return TextTokens(base)


def row(name: str, value: str, label: int, text: str = TEXT) -> FieldRow:
    start = text.index(value)
    place = (start, start + len(value))
    return FieldRow(
        id=f"{name}:{value}",
        field=name,
        places=(place,),
        label=label,
        passage=text,
        asked=name,
        narrow=(place,),
        statement=f"{name}: {value}",
        value=value,
    )


ROWS = [
    row("buyer", "Vela Ltd", 1),
    row("seller", "Vela Ltd", 0),
    row("seller", "Orm Co", 1),
    row("sum", "40", 1),
]


def words(tokens: TextTokens, ids: list[int]) -> str:
    return tokens.tokenizer.decode(ids).replace(" ##", "").replace(" ", "")


@pytest.mark.parametrize("seed", range(4))
def test_each_span_is_the_value_and_each_closing_follows_its_field(tokens, seed):
    made = field_example(
        tokens, TEXT, ROWS, window=(0, 999), foreign=["colour"], rng=random.Random(seed)
    )
    assert len(made.closings) == 4
    assert [words(tokens, [made.ids[at] for at in span.tokens]) for span in made.spans] == [
        "velaltd", "velaltd", "ormco", "40",
    ]  # fmt: skip
    begin = [1, *(closing + 1 for closing in made.closings)]
    names = [words(tokens, made.ids[a:b]) for a, b in zip(begin, made.closings, strict=False)]
    assert [names[span.field] for span in made.spans] == ["buyer", "seller", "seller", "sum"]
    assert [names[at] for at in made.foreign] == ["colour"]


def test_a_pass_holds_no_more_fields_than_it_may(tokens):
    beside = [row(f"field {number}", "40", 0) for number in range(40)]
    made = field_example(tokens, TEXT, ROWS, window=(0, 999), beside=beside, foreign=["colour"])
    assert len(made.closings) == MAX_FIELDS
    assert not made.foreign


@given(seed=st.integers(0, 10_000), long=st.booleans())
def test_every_row_is_in_one_window_with_its_value(tokens, seed, long):
    rng = random.Random(seed)
    text = " ".join(f"word{rng.randrange(99)}" for _ in range(120 if long else 20))
    starts = [0, *(at + 1 for at, sign in enumerate(text) if sign == " ")]
    rows = [
        FieldRow(f"r{at}", f"f{at}", ((start, start + 4),), 1)
        for at, start in enumerate(rng.sample(starts, min(6, len(starts))))
    ]
    found = windows(tokens, text, rows, rng)
    assert sorted(one.id for _, own in found for one in own) == sorted(one.id for one in rows)
    for window, own in found:
        made = field_example(tokens, text, own, window=window)
        assert len(made.spans) == len(own)


def test_a_question_is_read_as_today(tokens):
    made = question_example(tokens, "buyer", TEXT, ROWS[0].places[0], 1)
    assert words(tokens, [made.ids[at] for at in made.spans[0].tokens]) == "velaltd"
    assert made.ids[made.closings[0]] == tokens.close


def test_fields_compete_but_two_right_ones_do_not():
    logits = torch.tensor([[5.0, 5.0], [5.0, 5.0]])
    nothing = torch.zeros(1)

    def loss(other: int) -> float:
        spans = (Span(0, (0, 1), 1, "a"), Span(1, (0, 1), other, "b"))
        return float(spans_loss(logits, Example([1, 1], (0, 1), spans), nothing))

    alone = Example([1, 1], (0, 1), (Span(0, (0, 1), 1, "a"),))
    assert loss(1) < 0.1 < float(spans_loss(logits, alone, nothing)) < loss(0)


def corpus(tokens: TextTokens) -> Corpus:
    own = LabelledDocument("d", TEXT, tuple(ROWS), "here")
    said = [(TEXT, [("Vela pays Orm.", 1), ("Orm pays Vela.", 0)])]
    return Corpus(tokens, [own], [own], said, said, said)


def model() -> FieldReader:
    reader = tiny.reader(kind="mpnet")
    reader.freeze_words()
    torch.manual_seed(1)
    return FieldReader(reader)


def test_a_new_model_reads_one_field_as_the_reader_that_it_began_with(tokens):
    begun = model()
    states = torch.randn(9, begun.reader.encoder.config.hidden_size)
    logits = begun.token_logits(states, torch.tensor([2]))[0]
    assert torch.allclose(logits, begun.reader.tokens(states).squeeze(-1), atol=0.2)


def test_a_stopped_run_goes_on_where_it_was(tokens, tmp_path, monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr("recipes.field_reading.fit.time.process_time", lambda: float(next(clock)))
    short = FieldFit(0.1, learning_rate=1e-3, checkpoint_seconds=-1, warmup_steps=1, steady=1.0)
    whole = model()
    fit(whole, corpus(tokens), tmp_path / "whole", FieldFit(**{**fields(short), "minutes": 0.2}))
    halves = model()
    fit(halves, corpus(tokens), tmp_path / "halves", short)
    again = model()
    fit(again, corpus(tokens), tmp_path / "halves", FieldFit(**{**fields(short), "minutes": 0.2}))
    for name, own in whole.learning().items():
        assert torch.equal(own, again.learning()[name]), name
    assert not torch.equal(whole.nothing, halves.nothing)
    stored = model()
    stored.load(tmp_path / "halves" / WEIGHTS)
    assert torch.allclose(stored.nothing, again.nothing, atol=1e-3)


def fields(settings: FieldFit) -> dict[str, object]:
    return {name: getattr(settings, name) for name in settings.__slots__}


def test_a_run_with_other_settings_is_refused(tokens, tmp_path):
    begun = FieldFit(0.001, checkpoint_seconds=-1)
    fit(model(), corpus(tokens), tmp_path, FieldFit(**{**fields(begun), "minutes": 0.02}))
    assert (tmp_path / CHECKPOINT).exists()
    with pytest.raises(ValueError, match="other settings"):
        fit(model(), corpus(tokens), tmp_path, FieldFit(1.0, learning_rate=1.0))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_what_is_taught_is_learnt(tokens, tmp_path, one_by_one):
    """Values, and the statements on them: on the very rows, which is no measure of quality."""
    own = corpus(tokens)
    taught = model()
    settings = FieldFit(
        0.06, learning_rate=3e-3, warmup_steps=5, one_by_one=one_by_one, tokens=4_000
    )
    fit(taught, own, tmp_path, settings)
    result = judged(taught, tokens, own.written, one_by_one=one_by_one)
    assert result.auroc == 1.0
    assert result.pairs == (1.0, 1)


def test_batches_hold_every_example_once():
    made = [Example([1] * size) for size in (3, 90, 40, 41, 3)]
    batches = batches_of(made, 100, random.Random(0))
    assert sorted(id(one) for own in batches for one in own) == sorted(map(id, made))
    assert all(sum(len(one.ids) for one in own) <= 100 for own in batches)


def test_rows_are_read_as_the_pipeline_reads_them():
    rows = [
        {"id": "1", "doc_id": "d", "entity_type": "sum", "value": "forty", "label": 1,
         "context": "pays Orm Co 40 crowns"},
        {"id": "2", "doc_id": "d", "entity_type": "buyer", "value": "Vela Ltd", "label": 1,
         "context": "The buyer, Vela Ltd", "field": {"description": "who pays"}},
        {"id": "3", "doc_id": "d", "entity_type": "buyer", "value": "Nobody", "label": 0,
         "context": "a quote that is not in the text at all"},
    ]  # fmt: skip
    (found,) = labelled_documents({"d": TEXT}, rows)
    assert [TEXT[slice(*one.places[0])] for one in found.rows] == ["40", "Vela Ltd"]
    assert found.rows[1].description == "who pays"


def test_statements_are_judged_one_by_one(tokens):
    auroc, count = statements_auroc(model(), tokens, corpus(tokens).roles)
    assert count == 2
    assert 0.0 <= auroc <= 1.0
    assert len(statement_example(tokens, TEXT, [("a", 1), ("b", 0)]).statements) == 2
