"""The SafePassage score of each extractor: the share of its extractions that the guardrail let
through, per model and prompt, from live verdicts (SafePassage paper, Figure 5)."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

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


def plot(rows: list[ExtractorScore], path: Path) -> None:
    """The scores with their intervals as an image; the suffix of ``path`` names the format."""
    from safepassage.scoring_worker.evaluation.plots import axes_of  # noqa: PLC0415 - slow

    shares = [row.score.share or 0.0 for row in rows]
    below = [share - row.score.interval[0] for share, row in zip(shares, rows, strict=True)]
    above = [row.score.interval[1] - share for share, row in zip(shares, rows, strict=True)]
    with axes_of(path) as axes:
        axes.figure.set_figheight(1.3 + 0.45 * len(rows))
        axes.errorbar(shares, range(len(rows)), xerr=[below, above], fmt="o", capsize=3)
        axes.set_yticks(range(len(rows)), [f"{row.name} (n={row.score.total})" for row in rows])
        axes.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5))
        axes.set_xlabel("share of extractions accepted, with 95% interval")
