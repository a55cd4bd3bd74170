"""A report comes once, when the last of a document's extractions ended, in any order of events."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import (
    Coordinates,
    DeadLetter,
    DocumentRef,
    DocumentReport,
    Event,
    Extraction,
    ExtractionManifest,
    FormerVerdict,
    ReviewTrail,
    Verdict,
    text_digest,
    undetermined,
)
from safepassage.streams.report.document_completion import Closed, DocumentCompletion


def ref(doc_id: str = "d", offset: int = 0) -> DocumentRef:
    place = Coordinates(topic="documents", partition=0, offset=offset)
    return DocumentRef(id=doc_id, digest=text_digest(doc_id), length=1, coordinates=place)


def manifest(document: DocumentRef, *extraction_ids: str) -> ExtractionManifest:
    return ExtractionManifest(document=document, extraction_ids=extraction_ids)


def verdict(document: DocumentRef, extraction_id: str) -> Verdict:
    extraction = Extraction(
        id=extraction_id, doc_id=document.id, entity_type="Name", value="A", context="A"
    )
    return undetermined(extraction, "scorer_failed", document)


def letter(document: DocumentRef, extraction_id: str) -> DeadLetter:
    return DeadLetter(
        id=f"letter-{extraction_id}",
        stage="align",
        source=Coordinates(topic="extractions", partition=0, offset=0),
        error="Error",
        detail="",
        doc_id=document.id,
        extraction_id=extraction_id,
        document=document.coordinates,
    )


class Reader:
    """Feeds events to a tally as from records with rising offsets."""

    def __init__(self, tally: DocumentCompletion | None = None) -> None:
        self.tally = tally or DocumentCompletion()
        self.held: set[int] = set()
        self.reports: list[DocumentReport] = []
        self.offset = 0

    def read(self, *events: Event) -> list[Closed]:
        closed: list[Closed] = []
        for event in events:
            source = Coordinates(topic="mixed", partition=0, offset=self.offset)
            self.held.add(self.offset)
            self.offset += 1
            closed += self.tally.add(source, event)
        for done in closed:
            self.held -= {offset for _, _, offset in done.held}
            self.reports += [done.report] if done.report else []
        return closed


def test_a_document_without_extractions_is_done_with_its_manifest():
    reader = Reader()
    reader.read(manifest(ref()))
    [report] = reader.reports
    assert (report.extractions, report.score, reader.held) == (0, None, set())


def test_a_report_waits_for_the_last_verdict_and_holds_its_records_until_then():
    reader = Reader()
    reader.read(manifest(ref(), "a", "b"), verdict(ref(), "a"))
    assert (reader.reports, reader.held) == ([], {0, 1})
    reader.read(verdict(ref(), "b"))
    [report] = reader.reports
    assert (report.extractions, report.undetermined, reader.held) == (2, 2, set())
    assert report.reasons == {"scorer_failed": 2}


def test_a_repeated_verdict_counts_once():
    reader = Reader()
    reader.read(manifest(ref(), "a", "b"), *[verdict(ref(), "a")] * 3)
    assert reader.reports == []
    reader.read(verdict(ref(), "b"))
    assert [(r.extractions, r.undetermined) for r in reader.reports] == [(2, 2)]


def test_a_dead_letter_ends_an_extraction_whether_it_comes_before_or_after_the_manifest():
    for early in (True, False):
        reader = Reader()
        events = [letter(ref(), "a"), manifest(ref(), "a", "b")]
        reader.read(*(events if early else reversed(events)), verdict(ref(), "b"))
        [report] = reader.reports
        assert (report.dead_lettered, report.undetermined, reader.held) == (1, 1, set())


def test_what_repeats_after_the_report_is_let_go_at_once():
    reader = Reader()
    events = [manifest(ref(), "a", "b"), verdict(ref(), "a"), letter(ref(), "b")]
    reader.read(*events, *events)
    assert len(reader.reports) == 1
    assert reader.held == set()


def test_what_was_reported_before_a_restart_is_not_reported_again():
    reader = Reader()
    place = ref().coordinates
    assert place
    reader.tally.already_reported(place)
    reader.read(manifest(ref(), "a"), verdict(ref(), "a"))
    assert (reader.reports, reader.held) == ([], set())


def test_the_same_document_submitted_twice_is_reported_twice():
    reader = Reader()
    for offset in (0, 1):
        document = ref(offset=offset)
        reader.read(manifest(document, "a"), verdict(document, "a"))
    assert len(reader.reports) == 2


def test_events_that_belong_to_no_document_hold_back_nothing():
    reader = Reader()
    document = ref().model_copy(update={"coordinates": None})
    reader.read(verdict(document, "a"), manifest(document, "a"))
    assert (reader.reports, reader.held) == ([], set())


def test_a_document_that_is_never_done_is_given_up_for_later_ones():
    reader = Reader(DocumentCompletion(limit=2))
    for offset in range(3):
        reader.read(manifest(ref(f"d{offset}", offset), "a"))
    assert reader.held == {1, 2}
    for offset in range(3, 6):
        reader.read(letter(ref("unknown", offset), "a"))
    assert reader.held == {4, 5}


def test_a_new_assignment_starts_from_nothing():
    reader = Reader()
    reader.read(manifest(ref(), "a"))
    reader.tally.clear()
    reader.held.clear()
    reader.read(verdict(ref(), "a"), manifest(ref(), "a"))
    assert len(reader.reports) == 1


@given(
    shape=st.lists(st.lists(st.booleans(), max_size=4), min_size=1, max_size=5),
    repeats=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
def test_every_document_is_reported_once_in_any_order_of_events(
    shape: list[list[bool]], repeats: int, seed: int
):
    events: list[Event] = []
    for number, extractions in enumerate(shape):
        document = ref(f"d{number}", number)
        ids = [f"d{number}-e{n}" for n in range(len(extractions))]
        events.append(manifest(document, *ids))
        for extraction_id, judged in zip(ids, extractions, strict=True):
            made = verdict if judged else letter
            events.append(made(document, extraction_id))
    repeated = events * repeats
    random.Random(seed).shuffle(repeated)
    reader = Reader()
    reader.read(*repeated)
    assert sorted(r.document.id for r in reader.reports) == [f"d{n}" for n in range(len(shape))]
    for report in reader.reports:
        judged = shape[int(report.document.id[1:])]
        assert (report.undetermined, report.dead_lettered) == (sum(judged), judged.count(False))


def test_a_verdict_in_place_of_a_scorers_counts_and_one_that_came_after_does_not():
    document = ref()
    judged = verdict(document, "a")
    trail = ReviewTrail(review_id="r", reviewer="Ada", judged=judged.id)
    after = judged.model_copy(update={"id": "after", "review": trail})
    instead = after.model_copy(
        update={"id": "instead", "review": trail.model_copy(update={"in_place": True})}
    )
    reader = Reader()
    reader.read(manifest(document, "a"))
    reader.read(after)
    assert reader.reports == []
    reader.read(instead)
    (report,) = reader.reports
    assert report.verdict_ids == ("instead",)


def scored(document: DocumentRef, extraction_id: str) -> Verdict:
    return verdict(document, extraction_id).model_copy(update={"scorer_revision": "scorer-1"})


def stuck_among(tally: DocumentCompletion, later: int, made=scored) -> list[Closed]:
    """One document that waits for ever, and ``later`` ones that do not."""
    reader = Reader(tally)
    reader.read(manifest(ref("stuck"), "a", "b"), made(ref("stuck"), "a"))
    for number in range(1, later + 1):
        document = ref(f"d{number}", number)
        reader.read(manifest(document, "x"), made(document, "x"))
    return [closed for closed in tally.at_ends([("mixed", 0)]) if closed.given_up]


def test_a_document_far_behind_the_scorer_is_given_up_and_reported_incomplete():
    (given_up,) = stuck_among(DocumentCompletion(["mixed"], distance=10), later=10)
    assert given_up.report is not None
    assert (given_up.report.extractions, given_up.report.missing) == (2, 1)
    assert given_up.report.undetermined == 1
    assert len(given_up.held) == 2


def test_a_document_nearer_than_that_is_waited_for():
    assert stuck_among(DocumentCompletion(["mixed"], distance=10), later=9) == []


def test_a_scorer_that_stands_still_makes_nothing_hopeless():
    # Quotes that are not found end before the scorer, however far it is behind.
    assert stuck_among(DocumentCompletion(["mixed"], distance=10), later=500, made=verdict) == []


def test_nothing_is_given_up_before_every_topic_was_read_to_its_end():
    tally = DocumentCompletion(["mixed", "quarantine"], distance=10)
    assert stuck_among(tally, later=50) == []
    assert len(tally.at_ends([("quarantine", 0)])) == 1


def test_what_still_comes_of_a_document_that_was_given_up_holds_back_nothing():
    tally = DocumentCompletion(["mixed"], distance=10)
    stuck_among(tally, later=10)
    source = Coordinates(topic="mixed", partition=0, offset=999)
    (closed,) = tally.add(source, scored(ref("stuck"), "b"))
    assert (closed.report, closed.held) == (None, [("mixed", 0, 999)])


def test_manifests_that_run_far_ahead_are_held_and_no_document_is_given_up_for_them():
    tally = DocumentCompletion(["mixed"], limit=10)
    reader = Reader(tally)
    for number in range(4):
        reader.read(manifest(ref(f"d{number}", number), "x"))
    assert not tally.full
    reader.read(manifest(ref("d9", 9), "x"))
    assert tally.full
    reader.read(scored(ref("d9", 9), "x"))
    assert not tally.full


def test_required_fields_that_nothing_filled_stand_on_the_report():
    """Also of a document in which nothing was found at all."""
    reader = Reader()
    made = ExtractionManifest(document=ref(), extraction_ids=(), unfilled=("dose",))
    reader.read(made)
    assert [report.unfilled for report in reader.reports] == [("dose",)]
    assert b'"unfilled"' not in manifest(ref()).to_json()


def part(offset: int, answer: str = "answer") -> DocumentRef:
    """The reference of a part of ``answer`` whose record stands at ``offset``."""
    return ref(answer, offset).model_copy(update={"in_parts": True})


def test_an_answer_in_parts_is_reported_once_when_its_last_part_and_all_verdicts_are_in():
    reader = Reader()
    reader.read(verdict(part(3), "a"), verdict(part(4), "b"))
    assert (reader.reports, reader.held) == ([], {0, 1})
    reader.read(manifest(part(6), "a", "b", "c"))
    assert reader.reports == []
    reader.read(verdict(part(6), "c"))
    [report] = reader.reports
    assert (report.extractions, report.undetermined, report.missing) == (3, 3, 0)
    assert report.document == part(6)
    assert [place.offset for place in report.earlier_parts] == [3, 4]
    assert reader.held == set()


def test_what_repeats_of_a_reported_answer_in_parts_is_let_go_also_after_a_restart():
    events = [verdict(part(3), "a"), manifest(part(6), "a", "b"), verdict(part(6), "b")]
    reader = Reader()
    reader.read(*events, *events)
    [report] = reader.reports
    assert reader.held == set()
    again = Reader()
    assert report.document.coordinates
    again.tally.already_reported(*report.earlier_parts, report.document.coordinates)
    again.read(*events)
    assert (again.reports, again.held) == ([], set())


def test_an_answer_that_comes_in_parts_again_is_reported_again():
    reader = Reader()
    for first in (3, 10):
        reader.read(verdict(part(first), "a"), manifest(part(first + 1), "a"))
    assert [r.document.coordinates.offset for r in reader.reports if r.document.coordinates] == [
        4,
        11,
    ]


def test_a_dead_letter_of_a_claim_in_parts_ends_it():
    reader = Reader()
    lost = letter(part(3), "a").model_copy(update={"in_parts": True})
    reader.read(lost, manifest(part(6), "a", "b"), verdict(part(6), "b"))
    [report] = reader.reports
    assert (report.dead_lettered, report.undetermined, reader.held) == (1, 1, set())


def test_what_the_broker_refused_of_an_early_part_is_not_waited_for():
    refused = DeadLetter(
        id="refused",
        stage="extract",
        source=Coordinates(topic="responses", partition=0, offset=3),
        error="MessageSizeTooLarge",
        detail="",
        doc_id="answer",
        in_parts=True,
        refused={"a": "MessageSizeTooLarge"},
    )
    reader = Reader()
    reader.read(refused, verdict(part(6), "b"), manifest(part(6), "a", "b"))
    [report] = reader.reports
    assert (report.dead_lettered, report.undetermined, report.missing) == (1, 1, 0)
    reader.read(refused)
    assert reader.held == set()


def test_answers_in_parts_do_not_mix():
    reader = Reader()
    reader.read(verdict(part(3), "a"), verdict(part(4, "other"), "a"), manifest(part(6), "a"))
    [report] = reader.reports
    assert (report.document.id, reader.held) == ("answer", {1})


def test_what_is_taken_over_late_joins_the_report_which_counts_the_outcomes():
    former = FormerVerdict(verdict_id="v", extraction_id="before", document=ref("d", 0))
    document, reader = ref("d", 1), Reader()
    for extraction_id in ("a", "b"):
        taken_over = manifest(document, extraction_id).model_copy(update={"realigned": True})
        reader.read(taken_over)
        assert reader.reports == []
    for extraction_id in ("b", "a"):
        judged = verdict(document, extraction_id).model_copy(update={"former": former})
        reader.read(judged)
    [report] = reader.reports
    assert (report.extractions, report.realigned) == (2, {"undetermined": 2})
    assert reader.held == set()


def test_of_two_manifests_of_an_llm_the_later_counts():
    reader = Reader()
    reader.read(manifest(ref(), "a"), manifest(ref(), "b"), verdict(ref(), "b"))
    [report] = reader.reports
    assert (report.extractions, report.realigned) == (1, None)
