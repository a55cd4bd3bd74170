"""Where the broker refuses some of a document's results for good, manifest and dead letter say the
same of the others, and the document's report comes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from safepassage.schemas import (
    Claim,
    Coordinates,
    Document,
    DocumentReport,
    Extraction,
    ExtractionManifest,
    undetermined,
)
from safepassage.schemas.report import MAX_NAMED_RESULTS
from safepassage.streams.delivery.record_outcomes import Outcome
from safepassage.streams.kafka.records import Outgoing, Received, Record
from safepassage.streams.offline.submit import _outcome
from safepassage.streams.report.document_completion import DocumentCompletion
from safepassage.streams.settings import Settings
from safepassage.streams.topics import CLAIMS, DEAD_LETTERS, EXTRACTIONS, MANIFESTS
from tests.streams.doubles import FakePublisher, delivery_of, document_record, document_role

TOO_LARGE = "MessageSizeTooLargeError"


def finding(received: Received[Document], number: int) -> Extraction:
    ref = received.event.ref(received.record.coordinates)
    return Extraction(
        id=f"{ref.id}-{number}",
        doc_id=ref.id,
        entity_type="Name",
        value="A",
        context="A",
        document=ref,
    )


def sentence(received: Received[Document], number: int) -> Claim:
    ref = received.event.ref(received.record.coordinates)
    return Claim(
        id=f"{ref.id}-{number}",
        response_id=ref.id,
        ordinal=number,
        start=0,
        end=1,
        text="A",
        document=ref,
    )


def finding_role(count: int = 3, *, claims: bool = False):
    """A role from a document to ``count`` extractions, or claims, and their manifest."""

    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        return [outcome(received) for received in batch]

    def outcome(received: Received[Document]) -> list[Outgoing]:
        ref = received.event.ref(received.record.coordinates)
        make, topic = (sentence, CLAIMS) if claims else (finding, EXTRACTIONS)
        made = [make(received, number) for number in range(count)]
        manifest = ExtractionManifest(document=ref, extraction_ids=tuple(e.id for e in made))
        return [*(Outgoing(topic, ref.id, e) for e in made), Outgoing(MANIFESTS, ref.id, manifest)]

    return document_role(step)


def refusing(*extraction_ids: str, manifests: bool = False) -> FakePublisher:
    def refuse(out: Outgoing) -> str | None:
        gone = manifests if out.topic is MANIFESTS else getattr(out.event, "id", "")
        return TOO_LARGE if gone is True or gone in extraction_ids else None

    return FakePublisher(refuse=refuse)


def report_of(publisher: FakePublisher) -> list[DocumentReport]:
    """What the report role says once all that stands on ``extractions`` was judged."""
    verdicts = [undetermined(e, "scorer_failed", e.document) for e in publisher.to(EXTRACTIONS)]
    events = [*publisher.to(MANIFESTS), *publisher.to(DEAD_LETTERS), *verdicts]
    tally = DocumentCompletion()
    closed = [
        done
        for offset, event in enumerate(events)
        for done in tally.add(Coordinates(topic="mixed", partition=0, offset=offset), event)
    ]
    return [done.report for done in closed if done.report]


@pytest.mark.parametrize("claims", [False, True])
async def test_manifest_and_letter_name_what_was_refused_and_what_stands(claims: bool):
    publisher = refusing("d0-1")
    records = [document_record(f"d{number}", number) for number in range(2)]
    await delivery_of(finding_role(claims=claims), publisher).handle(records)
    hurt, whole = publisher.to(MANIFESTS)
    assert hurt.extraction_ids == ("d0-0", "d0-1", "d0-2")
    assert (hurt.refused, whole.refused) == ({"d0-1": TOO_LARGE}, {})
    [letter] = publisher.to(DEAD_LETTERS)
    assert (letter.doc_id, letter.error) == ("d0", TOO_LARGE)
    assert (letter.refused, letter.stands) == (hurt.refused, ("d0-0", "d0-2"))
    assert letter.manifest_stands
    assert letter.detail == "the broker refuses 1 results of this record; 2 are out"


@pytest.mark.parametrize("refused", [("d-1",), ("d-0", "d-1", "d-2")])
async def test_the_report_comes_and_counts_what_was_refused(refused: tuple[str, ...]):
    publisher = refusing(*refused)
    await delivery_of(finding_role(), publisher).handle([document_record("d", 0)])
    [report] = report_of(publisher)
    assert (report.extractions, report.dead_lettered) == (3, len(refused))
    assert (report.undetermined, report.missing) == (3 - len(refused), 0)


async def test_no_manifest_is_out_before_the_fate_of_its_results_is_known():
    publisher = refusing()
    records = [document_record(f"d{number}", number) for number in range(2)]
    await delivery_of(finding_role(1), publisher).handle(records)
    topics = [out.topic for out in publisher.published]
    assert topics == [EXTRACTIONS, EXTRACTIONS, MANIFESTS, MANIFESTS]


async def test_a_refused_manifest_leaves_a_letter_that_says_what_stands():
    publisher = refusing("d-0", manifests=True)
    await delivery_of(finding_role(), publisher).handle([document_record("d", 0)])
    [letter] = publisher.to(DEAD_LETTERS)
    assert (letter.refused, letter.stands) == ({"d-0": TOO_LARGE}, ("d-1", "d-2"))
    assert not letter.manifest_stands
    assert letter.detail.endswith("it refuses the manifest, so no report comes")


async def test_a_letter_names_no_more_results_than_it_may():
    count = 2 * MAX_NAMED_RESULTS
    gone = [f"d-{number}" for number in range(0, 2 * count, 2)]
    publisher = refusing(*gone)
    await delivery_of(finding_role(2 * count), publisher).handle([document_record("d", 0)])
    [letter] = publisher.to(DEAD_LETTERS)
    assert len(letter.refused) == len(letter.stands) == MAX_NAMED_RESULTS
    assert f"{count} results" in letter.detail
    assert type(letter).model_validate_json(letter.to_json()) == letter
    [manifest] = publisher.to(MANIFESTS)
    assert len(manifest.refused) == count


async def test_who_submitted_waits_for_the_report_where_one_comes():
    async def awaited(*, manifests: bool) -> bool:
        publisher = refusing("d-0", manifests=manifests)
        await delivery_of(finding_role(), publisher).handle([document_record("d", 0)])
        [letter] = publisher.to(DEAD_LETTERS)
        settings = Settings(topic_prefix="", _env_file=None)
        record = Record(settings.topic(DEAD_LETTERS.name), 0, 0, b"d", letter.to_json())
        return _outcome(record, settings) is None

    assert await awaited(manifests=False)
    assert not await awaited(manifests=True)
