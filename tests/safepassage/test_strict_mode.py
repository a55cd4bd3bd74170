"""One setting, in a call, in `check` and on the stream: the same doubtful verdicts."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from safepassage import Extraction, Verifier
from safepassage.schemas import Document
from safepassage.schemas.decision_rule import in_mode
from safepassage.schemas.rivals import with_rivals
from safepassage.scoring_worker import Pair, load_scorer
from safepassage.settings import JudgingSettings
from safepassage.streams import wiring
from safepassage.streams.cli import app
from safepassage.streams.release.live_scorer import LiveScorer
from safepassage.streams.release.releases import ReleaseRefused
from safepassage.streams.settings import Settings
from tests.safepassage.test_verifier import as_events, streamed

TEXT = "The rent is 900 euros a month, and the deposit is 1,800, held by the agent Ines Falk."
GIVEN = [
    Extraction("Rent", "900 euros", quote="The rent is 900 euros a month"),
    Extraction("Deposit", "1,800 euros", quote="the deposit is 1,800, held by the agent"),
]


def test_it_is_part_of_the_revision_and_a_release_names_the_scorer_without_it():
    loose, strict = (
        load_scorer('words#{"rent":0.97}'),
        load_scorer('words#{"rent":0.97}', strict=True),
    )
    assert strict.revision != loose.revision
    assert in_mode(strict.revision, strict=False) == loose.revision
    assert in_mode(in_mode(loose.revision, strict=True), strict=True) == strict.revision


async def test_a_worker_in_strict_mode_takes_what_was_released_before():
    revision = load_scorer("words").revision
    live = LiveScorer(partial(load_scorer, strict=True))
    await live.change_to("words", revision)
    assert live.revision == revision
    (said,) = await live.assess([Pair("The rent is 9.", "Rent: 9", "Rent", "9")])
    assert said.strict
    with pytest.raises(ReleaseRefused):
        await live.change_to("words", f"{revision}-other")


async def test_a_call_check_and_the_stream_decide_alike(tmp_path: Path, monkeypatch):
    document = Document(id="lease", text=TEXT)
    (tmp_path / "d.jsonl").write_text(document.model_dump_json(include={"id", "text"}))
    events = as_events(GIVEN, document.ref())
    rows = [
        {"id": one.id, "doc_id": "lease", "entity_type": one.entity_type}
        | {"value": one.value, "context": one.context}
        for one in events
    ]
    (tmp_path / "e.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Verifier("small", settings=JudgingSettings(strict=True)) as verifier:
        called = verifier.verify(document, GIVEN).verdicts

    monkeypatch.setenv("SAFEPASSAGE_STRICT", "1")
    # A process reads its settings once, and another test may have done so.
    monkeypatch.setattr(import_module("safepassage.streams.cli.check"), "settings", Settings)
    words = ["check", "-d", "d.jsonl", "-e", "e.jsonl", "--scorer", "small", "-o", "o.jsonl"]
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, words).exit_code == 0
    checked = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]

    loaded = []

    async def kept(load, *_: object) -> None:
        loaded.append(load("small"))

    monkeypatch.setattr(wiring, "score_source", kept)
    async with AsyncExitStack() as resources:
        await wiring._score(None, Settings(), resources)  # type: ignore[arg-type]
    live = [json.loads(raw) for raw in await streamed(with_rivals(events), TEXT, loaded[0])]

    assert [one.reasons for one in called] == [(), ("doubtful",)]
    assert [found.code for found in called[1].findings] == ["currency_missing"]
    for found in (checked, live):
        assert [one["id"] for one in found] == [one.id for one in called]
        assert [tuple(one["reasons"]) for one in found] == [one.reasons for one in called]
