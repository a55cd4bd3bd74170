"""One verdict for each extraction: a person's where one decided, else the last scorer's."""

import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import closing

from safepassage.schemas import Review, Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import decision_on, verdict_in_place

from ..kafka.records import Received
from ..labels.from_reviews import reviewed_cases, stream_reviews
from ..runtime.local_database import TemporaryDatabase
from ..settings import Settings
from ..topics import ACCEPTED, QUARANTINE, Topic
from .deduplication import VERDICT_TOPICS, Result, Unread, digest_of, read_verdicts

CACHE_MEBIBYTES = 32
# Of an extraction the case judged last, and whether that was by a worker. Of a case the ranks of
# what scorers and people last said of it, and of when a decision was last taken back.
_SCHEMA = """
CREATE TABLE extractions (id BLOB PRIMARY KEY, by_worker INTEGER NOT NULL, rank BLOB NOT NULL,
    case_id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE cases (id BLOB PRIMARY KEY, scored BLOB, decided BLOB, taken_back BLOB) WITHOUT ROWID;
CREATE TABLE reviews (case_id BLOB, id TEXT, review BLOB NOT NULL, PRIMARY KEY (case_id, id))
    WITHOUT ROWID;
"""
_TIME = struct.Struct(">Q")
_PLACE = struct.Struct(">IQ")


class LatestPerExtraction(TemporaryDatabase):
    """Which record holds the verdict that counts for each extraction, across revisions.

    A person's decision outranks any scorer's on the same text and value; otherwise the later
    record wins, and so does the text or value that was judged last. What is noted lies in a private
    temporary database. For one thread.
    """

    def __init__(self) -> None:
        super().__init__(_SCHEMA, CACHE_MEBIBYTES)

    def note(self, received: Received[Verdict]) -> None:
        """Count ``received``, which was let through by a `Deduplicator`."""
        verdict, rank = received.event, _rank(received)
        case, review = digest_of(case_id(verdict)), verdict.review
        self._raise_to("decided" if review and review.stands else "scored", case, rank)
        if review and not review.stands:
            self._raise_to("taken_back", case, rank)
        by_worker = review is None or review.in_place
        self.connection.execute(
            "INSERT INTO extractions VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
            "by_worker = excluded.by_worker, rank = excluded.rank, case_id = excluded.case_id "
            "WHERE (by_worker, rank) < (excluded.by_worker, excluded.rank)",
            (digest_of(verdict.extraction_id), by_worker, rank, case),
        )

    def note_review(self, review: Review) -> None:
        """Count one person's review; of those with one id the last counts."""
        self.connection.execute(
            "INSERT OR REPLACE INTO reviews VALUES (?, ?, ?)",
            (digest_of(case_id(review.verdict)), review.id, review.to_json()),
        )

    def holds(self, received: Received[Verdict]) -> bool:
        case = digest_of(case_id(received.event))
        extraction = digest_of(received.event.extraction_id)
        current = self.one("SELECT case_id FROM extractions WHERE id = ?", extraction)
        known = self._counts(case)
        if current is None or known is None:
            return False
        return current[0] == case and known[_TIME.size :] == _rank(received)[_TIME.size :]

    def opinions(self, verdict: Verdict) -> list[Review]:
        """What people in force say of the case of ``verdict``."""
        rows = self.connection.execute(
            "SELECT review FROM reviews WHERE case_id = ?", (digest_of(case_id(verdict)),)
        )
        cases = reviewed_cases(Review.model_validate_json(row[0]) for row in rows)
        return [opinion for case in cases for opinion in case.opinions.values()]

    def _raise_to(self, what: str, case: bytes, rank: bytes) -> None:
        self.connection.execute(
            f"INSERT INTO cases (id, {what}) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET "  # noqa: S608
            f"{what} = max(coalesce({what}, x''), excluded.{what})",
            (case, rank),
        )

    def _counts(self, case: bytes) -> bytes | None:
        row = self.one("SELECT scored, decided, taken_back FROM cases WHERE id = ?", case)
        scored, decided, back = row or (None, None, None)
        rank: bytes | None = decided if decided and (not back or back < decided) else None
        return rank or scored or decided


async def latest_verdicts(
    settings: Settings, topics: Sequence[Topic] = VERDICT_TOPICS
) -> AsyncIterator[Result]:
    """One verdict for each extraction, no matter how many scorers judged it: those that belong
    on ``topics``. A decision on ``reviews`` counts before its effect is published.

    The topics are read twice, and cannot be followed: no verdict handed out can be taken back."""
    names = {settings.topic(topic.name) for topic in topics}
    async for result in _in_force(settings):
        if isinstance(result, Received):
            wanted = (ACCEPTED if result.event.decision == "accepted" else QUARANTINE) in topics
        else:
            place = result.place if isinstance(result, Unread) else result.second
            wanted = place.topic in names
        if wanted:
            yield result


async def _in_force(settings: Settings) -> AsyncIterator[Result]:
    """What counts on both topics: on one of them alone, a verdict taken back would seem to."""
    with closing(LatestPerExtraction()) as latest:
        async for result in read_verdicts(settings):
            if isinstance(result, Received):
                latest.note(result)
        async for review in stream_reviews(settings):
            if review:
                latest.note_review(review)
        async for result in read_verdicts(settings):
            if not isinstance(result, Received):
                yield result
            elif latest.holds(result):
                decision = None
                if not result.event.review:
                    decision = decision_on(result.event, latest.opinions(result.event))
                # Made as a person's decision makes it, published yet or not.
                instead = verdict_in_place(result.event, decision) if decision else None
                yield Received(result.record, instead) if instead else result


def _rank(received: Received[Verdict]) -> bytes:
    """When and where a verdict was written, as bytes in that order; without a time, first."""
    record = received.record
    place = record.topic.encode() + b"\0" + _PLACE.pack(record.partition, record.offset)
    return _TIME.pack(record.timestamp + 1) + place
