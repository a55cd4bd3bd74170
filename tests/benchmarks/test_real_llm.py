"""What a real LLM extracted is labelled by the written rows, or by reading, and never guessed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks import real_llm
from safepassage.agents.extraction.schema_loading import user_schema
from safepassage.schemas import Document, Extraction
from safepassage.streams.demo.recorded_llm import Recording
from tests.recorded_llm.by_question import RecordedAnswer, RecordedAnswers
from tests.recorded_llm.server import recorded_app
from tests.recorded_llm.serving import serve
from tests.safepassage.llm_calls.slow_server import SlowServer

TEXT = "Lease of 3 May 2021. The rent is EUR 900 a month. The deposit is EUR 2,700."


def rows(path: Path, lines: Iterable[dict[str, object]]) -> None:
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    abouts = [("first", "leases", "dev"), ("taught", "leases", "train"), ("b", "bills", "dev")]
    rows(tmp_path / "documents.jsonl.gz", [{"id": name, "text": TEXT} for name, *_ in abouts])
    rows(
        tmp_path / "about.jsonl.gz",
        [{"doc_id": name, "domain": domain, "split": part} for name, domain, part in abouts],
    )
    written = [
        {"doc_id": name, "entity_type": kind, "value": value, "label": label}
        for name, *_ in abouts
        for kind, value, label in (
            ("Monthly Rent", "EUR 900", 1),
            ("Monthly Rent", "EUR 2,700", 0),
            ("Who pays?", "the tenant", 0),
        )
    ]
    rows(tmp_path / "extractions.jsonl.gz", written)
    return tmp_path


def test_cases_are_of_the_dev_part_and_of_every_domain_first(folder: Path):
    assert [case.document.id for case in real_llm.cases(folder)] == ["b", "first"]


def test_a_value_that_no_row_has_is_for_a_person_to_read(folder: Path):
    case = real_llm.cases(folder)[0]
    assert case.label("Monthly Rent", "eur 900") is True
    assert case.label("Monthly Rent", "EUR 2,700") is False
    assert case.label("Monthly Rent", "EUR 901") is None
    assert case.label("Deposit", "EUR 900") is None


def test_the_schema_has_a_class_for_each_field_under_its_own_name():
    schema = user_schema(real_llm.schema_of_fields({"Who pays?": "the payer", "Monthly Rent": ""}))
    assert [kind.type_name() for kind, _ in schema.places] == ["Who pays?", "Monthly Rent"]
    assert schema.places[0][0].__doc__ == "the payer"


async def test_answers_are_kept_a_line_a_document_and_judged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    found = [
        Extraction.model_validate(
            {"id": name, "doc_id": name, "entity_type": "Monthly Rent", "value": value}
            | {"context": "The rent is EUR 900 a month."}
        )
        for name, value in (("first", "EUR 900"), ("b", "EUR 901"))
    ]
    texts = [Document(id=f.doc_id, text=f"{TEXT} {f.doc_id}") for f in found]
    rows(folder / "documents.jsonl.gz", [{"id": d.id, "text": d.text} for d in texts])
    out = folder / "asked.jsonl"
    said = [
        RecordedAnswer(
            schema_name="Facts",
            contains=(text.text,),
            answer={
                "monthly_rent": [{"context": row.context, "value": row.value}],
                "who_pays": [],
            },
        )
        for text, row in zip(texts, found, strict=True)
    ]
    app = recorded_app(Recording([], []), answers=RecordedAnswers(said))
    async with serve(app) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        for most in (1, 2, 2):
            await real_llm.ask(folder, out, most, 60)
    kept = real_llm._kept(out)
    assert [row["id"] for row in kept] == ["b", "first"]
    report = real_llm.report(kept, folder, {}, "default")
    assert report["decisions"] == {"right accepted": 1}
    assert [one["id"] for one in report["unread"]] == ["b#0"]
    read = real_llm.report(kept, folder, {"b#0": False}, "default")
    assert read["decisions"] == {"right accepted": 1, "wrong quarantined": 1}
    assert (read["labelled by the rows"], read["unread"]) == (1, [])


async def test_what_was_stopped_is_asked_again_with_its_reasons(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    said = {"entity_type": "Monthly Rent", "context": "The rent is EUR 900 a month."}
    wrong = Extraction.model_validate({"id": "x", "doc_id": "b", "value": "EUR 905"} | said)
    asked, out = folder / "asked.jsonl", folder / "reasked.jsonl"
    asked.write_text(json.dumps({"id": "b", "extractions": [json.loads(wrong.to_json())]}) + "\n")
    rent = {"context": said["context"], "value": "EUR 900"}
    server = SlowServer(json.dumps({"monthly_rent": [rent], "who_pays": []}), tokens_per_second=200)
    async with serve(server.app()) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        await real_llm.reask(folder, asked, out, 1)
    assert "EUR 905" in server.requests[0]["messages"][-1]["content"]
    report = real_llm.report(real_llm._kept(out), folder, {}, "default")
    assert report["decisions"] == {"right accepted": 1}
