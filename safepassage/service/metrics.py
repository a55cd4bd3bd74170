"""Every metric of the service: name, labels and what it is for."""

from prometheus_client import Counter, Gauge, Histogram

# By route and status: a rise of 503 means more callers than one process can take, of 401 a guesser.
REQUESTS = Counter("safepassage_http_requests", "Requests answered", ("route", "status"))

# What a caller waits for.
SECONDS = Histogram(
    "safepassage_http_seconds",
    "Time from a request's first byte to its answer",
    ("route",),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60),
)

# Bounded by SAFEPASSAGE_SERVE_CONCURRENCY.
IN_FLIGHT = Gauge("safepassage_http_in_flight", "Requests being answered")

# The product's own result.
VERDICTS = Counter("safepassage_http_verdicts", "Verdicts given", ("decision",))

# Whether callers share the scorer's calls.
PAIRS = Histogram(
    "safepassage_http_pairs_per_call",
    "Pairs that travelled in one call of the scorer",
    buckets=(1, 2, 5, 10, 20, 50, 100, 200, 512),
)
