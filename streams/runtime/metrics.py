"""Every metric, in one place: name, labels and what it is for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram

# How each consumed record ended: published, dead_lettered; counted or unreadable at the roles
# that only read. A role that only dead-letters is broken even while its lag is small.
RECORDS = Counter("safepassage_records", "Records consumed, by outcome", ("role", "outcome"))

# Why records were set aside; the error class is small and countable, the detail is not here.
DEAD_LETTERS = Counter("safepassage_dead_letters", "Dead letters written", ("role", "error"))

# The product's own result. A jump of one reason is a broken prompt, model or scorer.
VERDICTS = Counter(
    "safepassage_verdicts",
    "Verdicts published, by decision and first reason",
    ("decision", "reason"),
)

# Time from consuming a batch to the broker's acknowledgement of all that it led to.
BATCH_SECONDS = Histogram(
    "safepassage_batch_seconds",
    "Time from consuming a batch to the acknowledgement of its results",
    ("role",),
    buckets=(0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 180),
)

# Capacity: with the time of batches it says which share of a role's time is taken.
LANES = Gauge("safepassage_lanes", "Batches that a role handles at once", ("role",))

# Back-pressure at work: bounded by lanes times batch.
IN_FLIGHT = Gauge("safepassage_in_flight", "Records delivered and not finished", ("role",))

# Liveness: consumers can stop fetching in silence, so alert on the age of this.
LAST_PROGRESS = Gauge(
    "safepassage_last_progress_timestamp_seconds", "When the role last made progress", ("role",)
)

# Autoscaling: what is still to do, per partition, as the last fetch saw it.
LAG = Gauge("safepassage_lag", "Records behind the high watermark", ("role", "topic", "partition"))

# Autoscaling too: a thousand records are a minute's work for one role and an hour's for another.
OLDEST_AGE = Gauge(
    "safepassage_oldest_record_age_seconds",
    "Age of the oldest record that the role holds and has not finished; 0 where it holds none",
    ("role",),
)

# What a user waits for: from the record of the document to the acknowledged verdict.
END_TO_END_SECONDS = Histogram(
    "safepassage_end_to_end_seconds",
    "Time from the record of a document to the acknowledgement of a verdict on it",
    ("decision",),
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3600),
)

# Tokens, money and time at the LLM, of documents that were answered; the answers of the cache
# cost nothing and are not counted. Cost only where the settings name prices.
LLM_TOKENS = Counter("safepassage_llm_tokens", "Tokens, by direction", ("role", "direction"))
LLM_COST = Counter("safepassage_llm_cost_usd", "US dollars at the LLM", ("role",))
LLM_SECONDS = Histogram(
    "safepassage_llm_seconds",
    "Time that the LLM took for one document, all parts and attempts",
    ("role",),
    buckets=(0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600),
)

# What was at hand: answers of the LLM (hit, miss), and the texts that the aligner asks for
# (local, redis, reread, corrupt). Many rereads mean a Redis that is too small, or gone.
CACHE = Counter("safepassage_cache", "Look-ups, by what answered them", ("cache", "answer"))

# The console's own work: a queue that only grows needs people, or another scorer.
REVIEWS = Counter("safepassage_reviews", "Decisions of reviewers", ("decision",))
OPEN_CASES = Gauge("safepassage_open_cases", "Cases that wait for a reviewer", ("pool",))
KAPPA = Gauge(
    "safepassage_reviewer_kappa", "Cohen's kappa of reviewers blind to each other", ("bound",)
)
DOUBLE_REVIEWS = Gauge("safepassage_double_reviews", "Cases that two people reviewed blind")

# The promise: the share of wrong values among those that pass without a person, and how many pass,
# of the scorer in force. An alert on the upper bound says that too few spot checks are judged.
RISK = Gauge("safepassage_risk", "Share wrong of what passes, by spot checks", ("bound",))
ACCEPTED_SHARE = Gauge("safepassage_accepted_share", "Share that passes", ("bound",))
PROMISE_CERTIFIED = Gauge("safepassage_promise_certified", "1 while the promise is certified")
PROMISES_BROKEN = Counter("safepassage_promises_broken", "Parts of the stream made stricter")

# What the candidate beside the live scorer did with live traffic: judged, dropped, failed; and
# how often it was turned off.
SHADOW = Counter("safepassage_shadow", "Extractions offered to the shadow scorer", ("outcome",))
LEARNING = Counter("safepassage_learning_runs", "Runs of learning, by how they ended", ("outcome",))
GIVEN_UP = Counter(
    "safepassage_documents_given_up", "Documents whose verdicts never all came", ("outcome",)
)


def set_estimate(gauge: Gauge, observed: float, interval: tuple[float, float]) -> None:
    low, high = interval
    for bound, value in (("low", low), ("observed", observed), ("high", high)):
        gauge.labels(bound).set(value)


@contextmanager
def timed_batch(role: str) -> Iterator[None]:
    """Count the time of a batch that comes to a good end."""
    started = time.perf_counter()
    yield
    BATCH_SECONDS.labels(role).observe(time.perf_counter() - started)
