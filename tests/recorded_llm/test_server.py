"""The recorded LLM behind the real client, and every row of a recording through the extractor."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import httpx2
import pytest
from pydantic import BaseModel

from safepassage.agents.extraction.extractor import Extractor
from safepassage.agents.extraction.prompt import messages
from safepassage.agents.extraction.schema_loading import load_schema, user_schema
from safepassage.llm_calls.client import create_client
from safepassage.llm_calls.errors import LLMRejected
from safepassage.schemas import Document, Entity, Extraction, LabelledExtraction
from safepassage.streams.demo.recorded_llm import Recording
from tests.recorded_llm.faults import Fault, Faults
from tests.recorded_llm.server import create_app, recorded_app
from tests.recorded_llm.serving import serve

TRIBUNAL = Path(__file__).parents[3] / "shared" / "data" / "tribunal"
DECISION = Document(
    id="decision",
    text="Date of Decision: January 17, 2012\n\nThe panel, J. Roe, heard it in\nToronto in camera.",
)
LEASE = Document(id="lease", text="Rent: 900 a month.")
ROWS = [
    LabelledExtraction(
        id="r1",
        doc_id="decision",
        entity_type="Decision Date",
        value={"yyyy": 2012, "mm": 1, "dd": 17},
        context="Date of Decision: January 17, 2012",
        label=1,
        kind="natural",
        why="SECRET",
    ),
    LabelledExtraction(
        id="r2",
        doc_id="decision",
        entity_type="Judge",
        value="J. Roe",
        context="heard it in Toronto",
        label=0,
    ),
    Extraction(
        id="r3", doc_id="decision", entity_type="Judge", value="P. Poe", context="by P. Poe"
    ),
]


def _asked(extractor_text: str, schema=None) -> dict:
    schema = schema or load_schema(None, [])
    return {
        "model": "any",
        "messages": messages(extractor_text, schema.json_schema),
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "x", "strict": True, "schema": schema.json_schema},
        },
    }


@pytest.fixture
async def server():
    """A recorded LLM and a plain HTTP client of it."""
    async with (
        serve(create_app([DECISION, LEASE], ROWS)) as base_url,
        httpx2.AsyncClient(base_url=base_url, trust_env=False) as client,
    ):
        yield client


async def test_it_says_that_it_is_a_recording(server):
    response = await server.post("chat/completions", json=_asked(DECISION.text))
    body = response.json()
    assert body["model"] == "recorded"
    assert "recorded" in response.headers["x-safepassage-recording"]
    models = (await server.get("models")).json()
    assert [model["id"] for model in models["data"]] == ["recorded"]


async def test_labels_and_ids_never_leave_the_server(server):
    response = await server.post("chat/completions", json=_asked(DECISION.text))
    assert "Decision Date" in response.text
    assert not any(hidden in response.text for hidden in ("SECRET", "label", "natural", '"r1"'))


async def test_tokens_are_counted(server):
    usage = (await server.post("chat/completions", json=_asked(LEASE.text))).json()["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] > 100


async def test_a_document_without_rows_has_an_empty_answer(server):
    response = await server.post("chat/completions", json=_asked(LEASE.text))
    assert response.json()["choices"][0]["message"]["content"] == '{"entities": []}'


async def test_an_unknown_document_is_an_error_of_the_api(server):
    response = await server.post("chat/completions", json=_asked("Never recorded."))
    assert response.status_code == 422
    assert "no recorded document" in response.json()["error"]["message"]


async def test_a_prompt_without_the_fence_is_of_no_recorded_document(server):
    question = {"model": "m", "messages": [{"role": "user", "content": f"Read: {DECISION.text}!"}]}
    response = await server.post("chat/completions", json=question)
    assert response.status_code == 422


async def test_types_that_were_not_asked_for_are_left_out(server):
    asked = _asked(DECISION.text, load_schema(None, ["Judge"]))
    said = (await server.post("chat/completions", json=asked)).json()["choices"][0]["message"]
    found = json.loads(said["content"])["entities"]
    assert [entity["value"] for entity in found] == ["J. Roe", "P. Poe"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"not json", 400),
        (b'{"model": "m"}', 400),
        (b'{"messages": [{"role": "user", "content": ["x"]}]}', 400),
    ],
)
async def test_a_bad_request_is_an_error_of_the_api(server, body, status):
    response = await server.post("chat/completions", content=body)
    assert response.status_code == status
    assert response.json()["error"]["message"].startswith("recorded LLM: ")


async def test_a_header_brings_about_a_fault(server):
    headers = {"X-SafePassage-Fault": "rate_limit"}
    response = await server.post("chat/completions", json=_asked(LEASE.text), headers=headers)
    assert (response.status_code, response.headers["retry-after"]) == (429, "1")
    headers = {"X-SafePassage-Fault": "earthquake"}
    response = await server.post("chat/completions", json=_asked(LEASE.text), headers=headers)
    assert "no such" in response.json()["error"]["message"]


async def test_it_stops_while_a_request_hangs():
    app = create_app([LEASE], [], faults=Faults(plan=(Fault.HANG,)))
    async with httpx2.AsyncClient(trust_env=False) as client:
        async with serve(app) as base_url:
            with pytest.raises(httpx2.ReadTimeout):
                await client.post(
                    f"{base_url}/chat/completions", json=_asked(LEASE.text), timeout=0.1
                )
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"{base_url}/models")


class Judge(Entity):
    name: str


async def test_an_unknown_document_costs_only_itself():
    async with serve(create_app([LEASE], [])) as base_url, create_client(base_url) as client:
        extractor = Extractor(client, model="recorded", schema=load_schema(None, []))
        with pytest.raises(LLMRejected, match="422"):
            await extractor.extract(DECISION, DECISION.ref())


class OneJudge(BaseModel):
    judge: Judge


async def test_a_users_class_is_not_answered():
    async with serve(create_app([DECISION], ROWS)) as base_url, create_client(base_url) as client:
        extractor = Extractor(client, model="recorded", schema=user_schema(OneJudge))
        with pytest.raises(LLMRejected, match="422"):
            await extractor.extract(DECISION, DECISION.ref())


class TestFiles:
    """A recording from files."""

    def _write(self, folder: Path, rows: str) -> tuple[Path, Path]:
        documents, extractions = folder / "documents.jsonl.gz", folder / "extractions.jsonl"
        documents.write_bytes(gzip.compress(DECISION.to_json()))
        extractions.write_text(rows)
        return documents, extractions

    def test_files_are_read(self, tmp_path):
        recording = Recording.read(*self._write(tmp_path, ROWS[0].model_dump_json()))
        assert len(recording) == 1
        assert len(recording.find(DECISION.text)) == 1

    def test_a_bad_row_is_an_error_of_one_line(self, tmp_path):
        with pytest.raises(ValueError, match=r"extractions.jsonl:1: doc_id: Field required"):
            Recording.read(*self._write(tmp_path, '{"id":"x"}'))


@pytest.mark.parametrize("chunk_characters", [24_000, 4_000])
async def test_every_row_of_the_tribunal_comes_back_exactly_once(chunk_characters):
    if not TRIBUNAL.exists():
        pytest.skip("needs ../shared/data/tribunal")
    from safepassage.schemas import read_jsonl

    rows = list(read_jsonl(TRIBUNAL / "extractions.jsonl.gz", LabelledExtraction))
    wanted = {row.doc_id for row in rows}
    documents = [
        document
        for document in read_jsonl(TRIBUNAL / "documents.jsonl.gz", Document)
        if document.id in wanted
    ]
    assert (len(rows), len(documents)) == (675, 40)
    app = recorded_app(Recording(documents, rows))
    async with serve(app) as base_url, create_client(base_url) as client:
        extractor = Extractor(
            client,
            model="recorded",
            schema=load_schema(None, sorted({row.entity_type for row in rows})),
            chunk_characters=chunk_characters,
            overlap_characters=500,
        )
        for document in documents:
            ref = document.ref()
            found = await extractor.extract(document, ref)
            assert len({extraction.id for extraction in found}) == len(found)
            assert sorted(map(_content, found)) == sorted(
                _content(row) for row in rows if row.doc_id == document.id
            )


def _content(extraction: Extraction) -> tuple[str, str, str]:
    return extraction.entity_type, repr(extraction.value), extraction.context
