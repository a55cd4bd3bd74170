"""The bundled answers: sent while they are written, and judged as a whole."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from safepassage.agents.claims import split_claims
from safepassage.schemas import Verdict, undetermined
from safepassage.streams.demo import corpus
from safepassage.streams.demo.verdict_tables import (
    WRITTEN_LIVE,
    in_parts,
    judged_answers,
    submitted,
)


def test_one_answer_is_sent_in_parts_and_the_others_whole():
    sent = list(submitted())
    assert {response.id for response in sent} == {r.id for r in corpus.responses()}
    parts = [response for response in sent if response.part]
    assert {response.id for response in parts} == {WRITTEN_LIVE}
    assert len(parts) > 2
    assert [response.complete for response in parts] == [False] * (len(parts) - 1) + [True]


def test_in_parts_it_brings_the_sentences_of_the_whole():
    for response in corpus.responses():
        brought = [c for part in in_parts(response) for c in split_claims(part, response.ref())]
        assert brought == split_claims(response, response.ref())


def verdicts() -> list[Verdict]:
    return [
        undetermined(claim.extraction(""), "scorer_failed", claim.document)
        for response in corpus.responses()
        for claim in split_claims(response, response.ref())
    ]


def test_the_table_names_what_no_passage_bears_out_and_the_labels():
    console = Console(width=200, record=True, file=StringIO())
    console.print(judged_answers(verdicts(), ["hallugraph"]))
    [line] = [row for row in console.export_text().splitlines() if "rag-corn-exchange" in row]
    assert "0 of 4" in line
    assert "1 of 4" in line
    assert "30 November 2024" in line
    assert "EG 0." in line
