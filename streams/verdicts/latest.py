"""One verdict for each extraction: a person's where one decided, else the last scorer's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from safepassage.schemas import Review, Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import decision_on, verdict_in_place
from safepassage.streams.kafka.records import Received
from safepassage.streams.labels.from_reviews import read_reviews, reviewed_cases
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, QUARANTINE, Topic

from .deduplication import VERDICT_TOPICS, Result, Unread, digest_of, read_verdicts

_Rank = tuple[int, str, int, int]
"""When a verdict was written, and its topic, partition and offset."""


class LatestPerExtraction:
    """Which record holds the verdict that counts for each extraction, across revisions.

    A person's decision outranks any scorer's on the same text and value; otherwise the later
    record wins, and so does the text or value that was judged last.
    """

    def __init__(self) -> None:
        # By extraction, the case judged last, and whether that was by a worker.
        self._cases: dict[bytes, tuple[bool, _Rank, bytes]] = {}
        self._latest: dict[bytes, _Rank] = {}  # by case, as scorers left it
        self._decided: dict[bytes, _Rank] = {}  # by case, as people left it
        self._taken_back: dict[bytes, _Rank] = {}  # by case, when the last decision was

    def note(self, received: Received[Verdict]) -> None:
        """Count ``received``, which was let through by a `Deduplicator`."""
        key, case = digest_of(received.event.extraction_id), digest_of(case_id(received.event))
        rank = _rank(received)
        review = received.event.review
        verdicts = self._decided if review and review.stands else self._latest
        known = verdicts.get(case)
        if known is None or known < rank:
            verdicts[case] = rank
        if review and not review.stands:
            self._taken_back[case] = max(self._taken_back.get(case, rank), rank)
        judged = review is None or review.in_place, rank
        current = self._cases.get(key)
        if current is None or current[:2] < judged:
            self._cases[key] = *judged, case

    def holds(self, received: Received[Verdict]) -> bool:
        """Whether ``received`` is its extraction's verdict."""
        case = digest_of(case_id(received.event))
        current = self._cases.get(digest_of(received.event.extraction_id))
        known = self._counts(case)
        if current is None or known is None:
            return False
        return current[2] == case and known[1:] == _rank(received)[1:]

    def _counts(self, case: bytes) -> _Rank | None:
        decided, back = self._decided.get(case), self._taken_back.get(case)
        if decided and (back is None or back < decided):
            return decided
        return self._latest.get(case) or decided


async def latest_verdicts(
    settings: Settings, topics: Sequence[Topic] = VERDICT_TOPICS
) -> AsyncIterator[Result]:
    """One verdict for each extraction, whatever number of scorers judged it: those that belong
    on ``topics``. A decision on ``reviews`` counts before its effect is published.

    The topics are read twice, and cannot be followed: a verdict that was handed out cannot be
    taken back.

    Raises:
        UnknownTopic: a topic is missing.
    """
    async for result in _in_force(settings):
        if _stands_on(result, topics, settings):
            yield result


async def _in_force(settings: Settings) -> AsyncIterator[Result]:
    """What counts on both topics: on one of them alone, a verdict taken back would seem to."""
    latest = LatestPerExtraction()
    async for result in read_verdicts(settings):
        if isinstance(result, Received):
            latest.note(result)
    reviews, _ = await read_reviews(settings)
    decided = {case_id(c.verdict): list(c.opinions.values()) for c in reviewed_cases(reviews)}
    async for result in read_verdicts(settings):
        if not isinstance(result, Received):
            yield result
        elif latest.holds(result):
            yield _held_to(result, decided)


def _held_to(result: Received[Verdict], decided: Mapping[str, list[Review]]) -> Received[Verdict]:
    """A scorer's verdict as a standing decision on its case makes it, published yet or not."""
    decision = decision_on(result.event, decided.get(case_id(result.event), []))
    if decision is None or result.event.review:
        return result
    return Received(result.record, verdict_in_place(result.event, decision) or result.event)


def _stands_on(result: Result, topics: Sequence[Topic], settings: Settings) -> bool:
    if isinstance(result, Received):
        return (ACCEPTED if result.event.decision == "accepted" else QUARANTINE) in topics
    place = result.place if isinstance(result, Unread) else result.second
    return place.topic in {settings.topic(topic.name) for topic in topics}


def _rank(received: Received[Verdict]) -> _Rank:
    record = received.record
    return record.timestamp, record.topic, record.partition, record.offset
