"""The SafePassage score of each extractor: the share of its extractions that the guardrail let
through, per model and prompt, from live verdicts (SafePassage paper, Figure 5)."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from safepassage.schemas import Decision, Verdict
from safepassage.schemas.proportion import Proportion
from safepassage.schemas.reviews_that_count import case_id

from ..kafka.reading import offsets_since, read_topics
from ..kafka.records import event_of
from ..runtime.local_database import TemporaryDatabase
from ..settings import Settings
from .deduplication import VERDICT_TOPICS

UNKNOWN_MODEL = "(not recorded)"
PROMPT_DIGITS = 8
_SCHEMA = """
CREATE TABLE extractions (id BLOB PRIMARY KEY, at INTEGER NOT NULL, model TEXT NOT NULL,
    prompt TEXT NOT NULL, decision TEXT NOT NULL) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class ExtractorScore:
    """What became of the extractions of one model under one prompt."""

    model: str
    prompt_digest: str
    accepted: int
    quarantined: int
    undetermined: int

    @property
    def score(self) -> Proportion:
        """Accepted of all: an extraction that could not be judged was not shown to be safe."""
        total = self.accepted + self.quarantined + self.undetermined
        return Proportion(self.accepted, total)

    @property
    def name(self) -> str:
        """For tables and plots: the model and the beginning of the prompt's digest."""
        model, prompt = self.model or UNKNOWN_MODEL, self.prompt_digest[:PROMPT_DIGITS]
        return f"{model} · {prompt}" if prompt else model


def scores(counts: Mapping[tuple[str, str, Decision], int]) -> list[ExtractorScore]:
    """One row for each model and prompt of ``counts``, best first."""
    extractors = sorted({(model, prompt) for model, prompt, _ in counts})
    rows = [
        ExtractorScore(
            *one,
            accepted=counts.get((*one, "accepted"), 0),
            quarantined=counts.get((*one, "quarantined"), 0),
            undetermined=counts.get((*one, "undetermined"), 0),
        )
        for one in extractors
    ]
    return sorted(rows, key=lambda row: row.score.share or 0.0, reverse=True)


class ExtractorTally(TemporaryDatabase):
    """Counts each extraction once, with its latest verdict, however often it was judged.

    What a person decided is left out: it says nothing about the guardrail's judgement. The
    extractions lie in a private temporary database. For one thread.
    """

    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def add(self, verdict: Verdict, at: int) -> None:
        """Count a verdict that was published ``at`` (any clock, compared only with itself)."""
        if verdict.review is None:
            extractor = verdict.extractor
            model = extractor.model if extractor else ""
            prompt = extractor.prompt_digest if extractor else ""
            self.connection.execute(
                "INSERT INTO extractions VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "at = excluded.at, model = excluded.model, prompt = excluded.prompt, "
                "decision = excluded.decision WHERE at <= excluded.at",
                (bytes.fromhex(case_id(verdict)), at, model, prompt, verdict.decision),
            )

    def counts(self) -> Counter[tuple[str, str, Decision]]:
        rows = self.connection.execute(
            "SELECT model, prompt, decision, count(*) FROM extractions GROUP BY 1, 2, 3"
        )
        return Counter({(model, prompt, said): number for model, prompt, said, number in rows})


async def compare_extractors(
    settings: Settings, since: datetime | None = None
) -> list[ExtractorScore]:
    """The scores from everything on ``accepted`` and ``quarantine``, or from ``since`` on."""
    earliest = int(since.timestamp() * 1000) if since else 0
    start = await offsets_since(settings, VERDICT_TOPICS, since) if since else None
    with contextlib.closing(ExtractorTally()) as tally:
        async for record in read_topics(settings, VERDICT_TOPICS, start=start):
            if record.timestamp >= earliest and (verdict := event_of(record, Verdict)):
                tally.add(verdict, record.timestamp)
        return scores(tally.counts())


def as_json(rows: Iterable[ExtractorScore]) -> list[dict[str, object]]:
    """The table for programs: counts, the score, and its 95% interval."""
    return [
        asdict(row)
        | {"n": row.score.total, "score": row.score.share, "score_interval": row.score.interval}
        for row in rows
    ]
