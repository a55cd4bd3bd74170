"""What the brokers are told to keep, and for how long."""

from __future__ import annotations

import pytest

from safepassage.streams.topics import (
    ACCEPTED,
    ALL_TOPICS,
    AUDIT,
    DECISIONS,
    DOCUMENTS,
    QUARANTINE,
    RESPONSES,
    REVIEWS,
    Topic,
    topic_config,
)


@pytest.mark.parametrize("topic", ALL_TOPICS, ids=lambda topic: topic.name)
def test_no_topic_is_left_to_the_brokers_default_retention(topic: Topic) -> None:
    kept = int(topic_config(topic, 2**20)["retention.ms"])
    assert kept == -1 or kept >= 90 * 24 * 3600 * 1000


def test_nothing_outlives_the_verdicts_that_it_is_about() -> None:
    results = (ACCEPTED, QUARANTINE)
    assert {topic.kept_days for topic in (*results, REVIEWS, DECISIONS, AUDIT)} == {None}


def test_a_document_is_kept_as_long_as_what_is_made_of_it_may_be_aligned_again() -> None:
    work = [topic for topic in ALL_TOPICS if topic.name in ("extractions", "claims", "alignments")]
    assert {topic.kept_days for topic in (DOCUMENTS, RESPONSES, *work)} == {DOCUMENTS.kept_days}
