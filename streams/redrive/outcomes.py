"""What became of redriven records: read from the topics on which the flow ends."""

from collections.abc import AsyncIterator, Mapping, Sequence

from aiokafka import TopicPartition

from safepassage.schemas import Coordinates, DeadLetter, DocumentReport, Event, Verdict
from safepassage.streams.delivery.record_outcomes import FAULT_REASONS
from safepassage.streams.kafka.reading import ends, follow_topics
from safepassage.streams.kafka.records import Record, event_of
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DEAD_LETTERS, QUARANTINE, READ_BY, REPORTS

from .letters import Letter

OUTCOME_TOPICS = (REPORTS, ACCEPTED, QUARANTINE, DEAD_LETTERS)


async def before(settings: Settings) -> dict[TopicPartition, int]:
    """Where to read from, taken before anything is redriven."""
    return await ends(settings, OUTCOME_TOPICS)


async def outcomes(
    settings: Settings,
    start: Mapping[TopicPartition, int],
    letters: Sequence[Letter],
    published: Mapping[str, Coordinates],
) -> AsyncIterator[tuple[str, str | None]]:
    """How the records of those of ``letters`` end that were ``published`` (by id), as it comes: the
    letter's id, and the error where it failed again. A whole document or answer ends with its
    report, all else with a verdict.
    """
    models = {settings.topic(topic.name): topic.model for topic in OUTCOME_TOPICS}
    documents = {settings.topic(topic.name) for topic in READ_BY["extract"]}
    remaining = {letter.id for letter in letters} & published.keys()
    whole = [x.id for x in letters if x.id in remaining and x.source.topic in documents]
    places = {published[letter]: letter for letter in whole}
    records = follow_topics(settings, OUTCOME_TOPICS, start=start)
    try:
        while remaining:
            record = await anext(records)
            event = event_of(record, models[record.topic])
            letter, error = _end(record, event, places)
            if letter in remaining and not (isinstance(event, Verdict) and letter in whole):
                remaining.discard(letter)
                yield letter, error
    finally:
        await records.aclose()


def _end(
    record: Record, event: Event | None, places: Mapping[Coordinates, str]
) -> tuple[str | None, str | None]:
    """The letter that ``event`` is the end of, and what went wrong."""
    match event:
        case DeadLetter():
            return event.redrive_of, event.error
        case DocumentReport():
            about = event.document.coordinates
            ended_badly = event.dead_lettered or event.missing
            letter = places.get(about) if about else None
            return letter, "IncompleteReport" if ended_badly else None
        case Verdict():
            told = record.redriven
            faults = [reason for reason in event.reasons if reason in FAULT_REASONS]
            return told.letter if told else None, faults[0] if faults else None
        case _:
            return None, None
