"""From reviews to training data."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from safepassage.schemas import (
    CLAIM_TYPE,
    Alignment,
    Document,
    Extraction,
    LabelledExtraction,
    Review,
    SchemaField,
    Span,
    Surroundings,
    read_jsonl,
    reject,
)
from safepassage.scoring_worker.evaluation.rows import PairRow
from safepassage.streams.labels.from_reviews import (
    Label,
    document_names,
    extraction_rows,
    labels,
    pair_rows,
    ratings,
    read_reviews,
    reviewed_cases,
    write_rows,
)
from safepassage.streams.settings import Settings
from safepassage.streams.topics import REVIEWS
from tests.stack import environment
from tests.streams.console.cases import review, verdict
from tests.streams.console.running import keep_text
from tests.streams.judged import publish

STOPPED = verdict(1)
PASSED = verdict(2, score=0.9)


def labels_of(*reviews: Review) -> list[Label]:
    return [label for case in reviewed_cases(reviews) for label in labels(case)]


def test_a_reason_is_on_the_label_and_of_a_claim_its_error_type() -> None:
    refused = review(STOPPED, "insufficient").model_copy(
        update={"reason": "other_person", "comment": "that is her brother"}
    )
    (found,) = labels_of(refused)
    assert (found.reason, found.error_type) == ("other_person", None)
    assert found.why.endswith(": that is her brother")
    claim = verdict(3, entity_type=CLAIM_TYPE, value="Ann Lee presided.")
    (of_claim,) = labels_of(refused.model_copy(update={"verdict": claim}))
    assert of_claim.error_type == "misattribution"
    row = of_claim.extraction("doc")
    assert (row.reason, row.error_type) == ("other_person", "misattribution")


@pytest.mark.parametrize(("decision", "label"), [("supports", 1), ("insufficient", 0)])
def test_a_decision_is_a_label_on_the_value_as_extracted(decision: str, label: int) -> None:
    (found,) = labels_of(review(STOPPED, decision))
    assert (found.value, found.label, found.kind) == (STOPPED.value, label, "review")


def test_a_correction_is_two_labels_with_two_ids() -> None:
    old, new = labels_of(review(STOPPED, "corrected", value="Ann Leigh"))
    assert (old.value, old.label) == (STOPPED.value, 0)
    assert (new.value, new.label, new.kind) == ("Ann Leigh", 1, "correction")
    rows = [label.extraction("doc") for label in (old, new)]
    assert rows[0].id == STOPPED.extraction_id != rows[1].id


@pytest.mark.parametrize("decision", ["skipped", "undone"])
def test_what_nobody_judged_is_no_label(decision: str) -> None:
    assert labels_of(review(STOPPED, decision)) == []


def test_the_latest_decision_wins_and_the_disagreement_is_told() -> None:
    made = [review(STOPPED), review(STOPPED, "insufficient", by="Ben", minute=1)]
    (case,) = reviewed_cases(made)
    (found,) = labels(case)
    assert (found.label, case.disputed) == (0, True)
    assert found.why == "insufficient by Ben; 1 of 2 agree"
    assert ratings([case]) == [{"Ana": 1, "Ben": 0}]


def test_a_correction_and_an_insufficient_agree_on_the_value_as_extracted() -> None:
    made = [review(STOPPED, "corrected", value="x"), review(STOPPED, "insufficient", by="Ben")]
    assert not reviewed_cases(made)[0].disputed


def test_a_spot_check_is_told_from_what_was_stopped() -> None:
    (found,) = labels_of(review(PASSED, "insufficient"))
    assert (found.label, found.kind) == (0, "spot_check")


def test_only_what_was_decided_since_a_time_is_kept_and_older_undos_still_count() -> None:
    since = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    early, late = review(STOPPED), review(PASSED, "insufficient", minute=45)
    undone = review(STOPPED, "undone", minute=50, supersedes=early.id)
    assert [c.standing for c in reviewed_cases([early, late], since)] == [late]
    assert [c.standing for c in reviewed_cases([early, undone, late], since)] == [late]


def test_rows_are_what_train_and_evaluate_read(tmp_path: Path) -> None:
    found = labels_of(review(STOPPED), review(PASSED, "corrected", value={"yyyy": 2012}, minute=1))
    out = tmp_path / "labels.jsonl.gz"
    assert write_rows(out, extraction_rows(found, document_names(found))) == 3
    rows = list(read_jsonl(out, LabelledExtraction))
    assert [row.label for row in rows if isinstance(row, LabelledExtraction)] == [1, 0, 1]
    assert gzip.decompress(out.read_bytes()).count(b"\n") == 3


def test_a_pair_is_passage_and_hypothesis_and_a_quote_that_was_not_found_makes_none() -> None:
    extraction = Extraction(id="x", doc_id="d", entity_type="Judge", value="Ann", context="quote")
    nowhere = Alignment(score=0.1, matches=1, length=9, unaligned=1, threshold=0.6, route="full")
    lost = reject(extraction, "not_found", STOPPED.document, nowhere)
    (row,) = map(json.loads, pair_rows(labels_of(review(STOPPED), review(lost))))
    assert row["premise"] == STOPPED.alignment.passage  # type: ignore[union-attr]
    assert row["hypothesis"] == STOPPED.hypothesis
    assert row["label"] == 1


def test_a_value_that_only_some_json_libraries_can_write_is_written() -> None:
    (row,) = pair_rows(labels_of(review(verdict(1, value=2**80))))
    assert json.loads(row)["value"] == 2**80


def test_two_texts_under_one_id_get_two_names() -> None:
    first = verdict(1, doc_id="d", text="the first text of this document, as it was")
    second = verdict(2, doc_id="d", text="the second text of this document, as it is")
    found = labels_of(review(first), review(second, minute=1))
    names = list(document_names(found).values())
    assert names == ["d", f"d@{second.document.digest[:12]}"]  # type: ignore[union-attr]
    rows = [json.loads(row) for row in extraction_rows(found, document_names(found))]
    assert [row["doc_id"] for row in rows] == names


async def test_repeated_and_unreadable_records_are_one_review_and_none(kafka: Settings) -> None:
    made = review(STOPPED)
    await publish(kafka, REVIEWS, [made, made, STOPPED])
    assert await read_reviews(kafka) == ([made], 1)


def export(settings: Settings, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "safepassage", "labels", "export", *options]
    return subprocess.run(
        command, env=environment(settings), capture_output=True, text=True, timeout=60, check=False
    )


def lines(path: Path) -> Sequence[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_the_command_writes_labels_with_their_documents_and_says_who_agrees(
    kafka: Settings, tmp_path: Path
) -> None:
    text = "On the day 1 the panel sat. The judge was Ann Lee 1."
    made = [
        review(STOPPED, seconds=14),
        review(STOPPED, by="Ben", minute=1, seconds=14),
        review(PASSED, "insufficient", minute=2, seconds=14),
        review(PASSED, "insufficient", by="Ben", minute=3, seconds=14),
    ]
    await publish(kafka, REVIEWS, made)
    await keep_text(kafka, STOPPED, text)
    await keep_text(kafka, PASSED, text.replace("1", "2"))
    out, documents = tmp_path / "labels.jsonl", tmp_path / "documents.jsonl"
    done = await asyncio.to_thread(
        export, kafka, "--out", str(out), "--documents-out", str(documents)
    )
    assert done.returncode == 0, done.stderr
    assert [row["label"] for row in lines(out)] == [1, 0]
    rows = list(read_jsonl(documents, Document))
    assert {row.id for row in rows if isinstance(row, Document)} == {"doc-1", "doc-2"}
    assert "Ana and Ben: 2 cases, Cohen's kappa 1.00" in done.stdout
    assert "1 were spot checks" in done.stdout


async def test_a_document_that_is_gone_is_told_and_fails_the_command(
    kafka: Settings, tmp_path: Path
) -> None:
    nowhere = verdict(5)
    fields = nowhere.model_dump()
    fields["document"]["coordinates"] = None
    await publish(kafka, REVIEWS, [review(type(nowhere).model_validate(fields))])
    out, documents = tmp_path / "labels.jsonl", tmp_path / "documents.jsonl"
    done = await asyncio.to_thread(export, kafka, "--out", str(out), "-d", str(documents))
    assert done.returncode == 1
    assert len(lines(out)) == 1
    assert "no text for doc-5: DocumentMissing" in done.stderr


def test_a_pair_keeps_what_stood_around_the_passage_and_what_the_schema_said() -> None:
    """The scorer that learns from it meets the question that the reviewers judged."""
    before = Span(start=0, end=4, text="not ")
    alignment = STOPPED.alignment.model_copy(
        update={"surroundings": (Surroundings(before=before),)}
    )
    field = SchemaField(description="where she sat", single=True)
    judged = STOPPED.model_copy(update={"alignment": alignment, "field": field})
    (found,) = labels_of(review(judged))
    row = json.loads(next(pair_rows([found])))
    assert (row["before"], row["field"]) == (
        "not ",
        {"description": "where she sat", "single": True},
    )
    assert "after" not in row
    read = PairRow.model_validate(row)
    assert (read.before, read.schema_field) == ("not ", field)
    assert found.extraction("d").field == field
