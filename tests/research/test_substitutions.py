"""Sentences of annotated documents and their twins with one entity in another's place."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from research.adaptation.substitutions import substitutions
from research.cli import app
from research.corpora import known_documents

PAYS = "{} shall pay the yearly fee of this agreement to {} on the first of May."


def row(name: str, payer: str, payee: str, text: str = PAYS) -> dict:
    said = f"The parties met in Bonn. {text.format(payer, payee)} Nothing else was agreed by them."
    entities = [
        {"type": kind, "start": said.index(who), "end": said.index(who) + len(who), "text": who}
        for kind, who in (("PAYER_PERSON", payer), ("PAYEE_PERSON", payee))
    ]
    return {"id": name, "text": said, "entities": entities}


ROWS = [row("a", "Anna Berg", "Omar Haddad"), row("b", "Ines Prat", "Yuki Mori")]


def test_known_fields_of_documents_are_typed():
    text = "Present: Justice Ann Lee\nThe appeal is dismissed."
    row = {"id": "d", "text": text, "entities": [{"type": "JUDGE", "start": 17, "end": 24}]}
    (document,) = known_documents([row])
    (known,) = document.fields
    assert (known.entity_types, known.kind, known.value) == (("Judge",), "person", "Ann Lee")
    assert text[known.context_start : known.context_end] == "Present: Justice Ann Lee"


def test_an_exchanged_twin_has_every_word_of_the_sentence():
    made = substitutions(known_documents(ROWS), "exchanged")
    assert [one.group for one in made] == ["a", "b"]
    assert made[0].sentence == PAYS.format("Anna Berg", "Omar Haddad")
    assert made[0].altered == PAYS.format("Omar Haddad", "Anna Berg")
    assert made[0].sentence in made[0].passage
    assert made[0].altered not in made[0].passage


def test_a_foreign_twin_names_an_entity_of_the_same_type_that_the_document_does_not():
    for one in substitutions(known_documents(ROWS), "foreign"):
        other = ROWS[1] if one.group == "a" else ROWS[0]
        names = {entity["text"]: entity["type"] for entity in other["entities"]}
        [named] = [name for name in names if name in one.altered]
        place = "PAYER_PERSON" if one.altered.startswith(named) else "PAYEE_PERSON"
        assert names[named] == place
        assert named not in one.passage


@pytest.mark.parametrize("kind", ["exchanged", "foreign"])
def test_the_same_seed_draws_the_same(kind):
    drawn = [substitutions(known_documents(ROWS), kind, seed=4) for _ in range(2)]
    assert drawn[0] == drawn[1] != []


def test_a_list_says_the_same_in_any_order_and_has_no_twin():
    text = "On this day of the meeting there were present {} and Ms. {} for some hours."
    rows = [row("a", "Anna Berg", "Ines Prat", text)]
    assert substitutions(known_documents(rows), "exchanged") == []


def test_the_command_writes_answers_that_the_benchmark_reads(tmp_path):
    documents = tmp_path / "documents.jsonl"
    documents.write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    out = tmp_path / "twins.jsonl"
    told = ["groundedness", "substitute", str(documents), "--kind", "exchanged", "--out", str(out)]
    assert CliRunner().invoke(app, told).exit_code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [one["label"] for one in rows] == [1, 0, 1, 0]
    cache = str(tmp_path / "cache")
    told = ["groundedness", "benchmark", str(out), "-d", "hallugraph", "--cache", cache]
    result = CliRunner().invoke(app, told)
    assert result.exit_code == 0, result.output
    assert "hallugraph" in result.output


def test_an_unknown_kind_is_refused(tmp_path):
    told = ["groundedness", "substitute", str(tmp_path), "--kind", "x", "-o", str(tmp_path / "o")]
    result = CliRunner().invoke(app, told)
    assert result.exit_code == 2
    assert "'exchanged'" in result.output
