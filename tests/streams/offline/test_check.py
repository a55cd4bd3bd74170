"""``check``: what a file says of a field and what stands around a quote reach the scorer."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from safepassage.agents.aligner import Aligner
from safepassage.schemas import Assessment, Part, Response, SchemaField, Verdict
from safepassage.schemas.jsonl import MAX_LINE_BYTES
from safepassage.scoring_worker import Pair
from safepassage.streams.cli import app
from safepassage.streams.offline.check import CheckInput, check, read_input
from safepassage.streams.offline.wanted_documents import UnknownDocuments

TEXT = "Medication\n\nRamipril: 5 mg\nMetformin: 850 mg\n\nThe claimant is not a citizen of Iran."


@dataclass
class AgreeingScorer:
    """Supports everything, and remembers what it was asked."""

    name: str = "agreeing"
    revision: str = "agreeing-1"
    asked: list[Pair] = field(default_factory=list)

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        self.asked += pairs
        return [
            Assessment(scorer=self.name, revision=self.revision, score=0.9, threshold=0.5)
            for _ in pairs
        ]

    def close(self) -> None:
        """Holds nothing."""


def row(identity: str, value: object, context: str, **more: object) -> dict[str, object]:
    entity_type = str(more.pop("entity_type", "Dose"))
    given = {"id": identity, "doc_id": "d", "entity_type": entity_type, "value": value}
    return {**given, "context": context, **more}


def given_files(folder: Path, *rows: dict[str, object], text: str = TEXT) -> CheckInput:
    documents, extractions = folder / "d.jsonl", folder / "e.jsonl"
    documents.write_text(json.dumps({"id": "d", "text": text}))
    extractions.write_text("\n".join(map(json.dumps, rows)))
    return read_input([documents], [extractions])


def checked(given: CheckInput, scorer: AgreeingScorer) -> list[Verdict]:
    aligner = Aligner()
    try:
        return check(given, aligner, scorer)
    finally:
        aligner.close()


def test_the_scorer_sees_the_schemas_words_and_the_surroundings_apart_from_the_quote(tmp_path):
    given = given_files(
        tmp_path,
        row("e1", "850 mg", "850 mg", description="the daily dose of metformin"),
        row("e2", "Iran", "a citizen of Iran", entity_type="Citizenship", field={"single": True}),
        row("e3", "5 mg", "5 mg"),
    )
    assert given.refused == []
    scorer = AgreeingScorer()
    first, second, third = checked(given, scorer)
    dose, citizenship, plain = scorer.asked
    assert (dose.premise, dose.before) == ("850 mg", "Metformin: ")
    assert dose.heading == "Medication | Metformin:"
    others = ("Citizenship",)  # the types of a document stand for its schema
    told = SchemaField(description="the daily dose of metformin", others=others)
    assert dose.field == told
    assert (citizenship.before, citizenship.after) == ("The claimant is not ", ".")
    assert plain.field == SchemaField(others=others)
    assert (first.field, second.field, third.field) == (told, citizenship.field, plain.field)
    assert first.alignment is not None
    around = first.alignment.surroundings
    assert around is not None
    assert around[0].before is not None
    assert TEXT[around[0].before.start : around[0].before.end] == "Metformin: "


def test_the_same_files_give_the_same_bytes(tmp_path):
    rows = [row("e1", "850 mg", "850 mg", description="x"), row("e2", "5 mg", "5 mg")]
    runs = [
        [v.to_json() for v in checked(given_files(tmp_path, *rows), AgreeingScorer())]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def conflicting_rows() -> list[dict[str, object]]:
    single = {"name": "dose", "single": True}
    return [
        row("e1", "850 mg", "Metformin: 850 mg", field=single),
        row("e2", "5 mg", "Ramipril: 5 mg", field=single),
        row("e3", "0.85 g", "Metformin: 850 mg", field={"name": "other", "single": True}),
        row("e4", "850 mg", "Metformin: 850 mg", field={"name": "other", "single": True}),
        row("e5", "9 mg", "a dose of nine milligrams", field=single),
    ]


def test_two_values_for_a_field_with_room_for_one_are_conflicting(tmp_path):
    """Values that are one in another notation are no conflict, nor is what stands nowhere."""
    given = given_files(tmp_path, *conflicting_rows())
    assert given.refused == []
    found = checked(given, AgreeingScorer())
    assert [(v.extraction_id, v.decision, v.reasons) for v in found] == [
        ("e1", "quarantined", ("conflicting",)),
        ("e2", "quarantined", ("conflicting",)),
        ("e3", "accepted", ()),
        ("e4", "accepted", ()),
        ("e5", "quarantined", ("not_found",)),
    ]
    assert [[c.extraction_id for c in v.conflicts] for v in found[:2]] == [["e2"], ["e1"]]
    again = checked(given_files(tmp_path, *conflicting_rows()), AgreeingScorer())
    assert [v.to_json() for v in again] == [v.to_json() for v in found]


def test_a_file_of_an_answer_in_parts_gives_the_verdicts_of_the_whole(tmp_path):
    answer = "The dose is 850 mg. The claimant is from Iran. The claimant is not a citizen of Iran."
    cuts = (0, 30, 31, len(answer))
    parts = [
        Response(
            id="r",
            context=TEXT,
            response=answer[:end],
            part=Part(since=since, final=end == len(answer)),
        )
        for since, end in pairwise(cuts)
    ]
    whole = Response(id="r", context=TEXT, response=answer)
    found = []
    for number, rows in enumerate((parts, [whole])):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"".join(row.to_json() + b"\n" for row in rows))
        judged = checked(read_input([], [], [path]), AgreeingScorer())
        found.append([v.model_dump(exclude={"document"}) for v in judged])
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_a_large_file_of_rows_is_never_held_whole(tmp_path):
    """A row and then a hole of 300 MiB, which takes no room on the disk."""
    documents, extractions = tmp_path / "d.jsonl", tmp_path / "e.jsonl"
    documents.write_text(json.dumps({"id": "d", "text": TEXT}) + "\n")
    os.truncate(documents, 300 * 2**20)
    extractions.write_text(json.dumps(row("e1", "850 mg", "850 mg")))
    tracemalloc.start()
    try:
        given = read_input([documents], [extractions])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert given.documents["d"].text == TEXT
    assert peak < 5 * MAX_LINE_BYTES


def test_columns_of_the_users_own_come_back_and_a_misspelt_one_is_refused(tmp_path):
    own = row("a", "5 mg", "Ramipril: 5 mg", source="scan 4", note={"by": "Ana"})
    misspelt = {name.replace("context", "contxt"): said for name, said in own.items()}
    given = given_files(tmp_path, own, misspelt | {"id": "b"}, row("c", "5 mg", "Ramipril: 5 mg"))
    assert given.columns == {"a": {"source": "scan 4", "note": {"by": "Ana"}}}
    assert [one.id for one in given.extractions] == ["a", "c"]
    (refused,) = given.refused
    assert "'contxt' is unknown; is 'context' meant?" in refused
    documents, extractions, out = (tmp_path / name for name in ("d.jsonl", "e.jsonl", "v.jsonl"))
    extractions.write_text(json.dumps(own))
    asked = ["check", "-d", str(documents), "-e", str(extractions), "-o", str(out)]
    result = CliRunner().invoke(app, [*asked, "--scorer", "words"])
    assert result.exit_code == 0, result.output
    assert json.loads(out.read_text())["columns"] == {"source": "scan 4", "note": {"by": "Ana"}}


def test_rows_that_are_no_documents_are_told_where_none_is_left(tmp_path):
    extractions = tmp_path / "e.jsonl"
    extractions.write_text(json.dumps(row("a", "5 mg", "Ramipril: 5 mg")))
    for line in ({"id": "d"}, {"id": "d", "text": TEXT, "language": "en"}):
        documents = tmp_path / "d.jsonl"
        documents.write_text(json.dumps(line))
        with pytest.raises(UnknownDocuments) as told:
            read_input([documents], [extractions])
        own = 'language: unknown; columns of your own go into "meta"'
        unknown = own if "text" in line else "text: Field required"
        assert f"there is no document; refused {documents}:1: {unknown}" in str(told.value)


def test_pipes_are_read_as_rows(tmp_path):
    written = {}
    for name, line in (("d", {"id": "d", "text": TEXT}), ("e", row("a", "5 mg", "Ramipril: 5 mg"))):
        written[name], into = os.pipe()
        os.write(into, json.dumps(line).encode())
        os.close(into)
    documents, extractions = (Path(f"/dev/fd/{written[name]}") for name in "de")
    given = read_input([documents], [extractions])
    assert (list(given.documents), len(given.extractions)) == (["d"], 1)
    for pipe in written.values():
        os.close(pipe)
