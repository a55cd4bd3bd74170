"""The console's words for codes: what a reviewer who never saw the source understands."""

POOLS = {
    "queue": "Stopped, with spot checks mixed in",
    "stopped": "Stopped only",
    "checks": "Spot checks only",
    "second": "Second opinions on decided cases",
    "double": "Waiting for a second person",
    "skipped": "Skipped by me",
    "document": "All of one document, accepted too",
}

ORDERS = {
    "teaching": "What teaches most, picked by chance",
    "uncertain": "Most uncertain first",
    "oldest": "Oldest first",
    "newest": "Newest first",
}

AGES = {
    "": "Any age",
    "hour": "Last hour",
    "day": "Last 24 hours",
    "week": "Last 7 days",
    "older-day": "Older than 24 hours",
    "older-week": "Older than 7 days",
}
