"""The console's view of the topics: an index, never the truth.

An SQLite database: bounded memory, and as much disk as the topics' stopped verdicts take. It is
built from the topics (see `safepassage.streams.console.index.index_file`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import zstandard

from safepassage.schemas import Decision, Review, StandingDecision, Verdict
from safepassage.schemas.reviews_that_count import (
    JUDGED,
    case_id,
    judged_by,
    moment,
    opinions,
    rival_cases,
    standing,
    unapproved,
    waits,
)

from ...labels.reviewer_agreement import blind_pair
from .case_filter import ANY_SKIP, CaseFilter, lot, margin, order, select
from .index_file import IndexFile

_COMPRESSOR = zstandard.ZstdCompressor(level=1)
UNKNOWN_TIME = -1
_UNCERTAIN, _TYPES, _OF_A_TYPE = 200, 10, 10  # How many open cases are weighed for what they teach


SAMPLE = 200  # Spot checks of a stream that is too small for its rate: enough for a first promise


class Candidate(NamedTuple):
    """An open case, its distance to the threshold, and labels of its type and kind."""

    id: str
    margin: float
    labels_of_type: int
    labels_alike: int


@dataclass(frozen=True, slots=True)
class Case:
    """One extraction to judge. ``at`` is when its verdict was published, in ms since the epoch."""

    id: str
    verdict: Verdict
    at: int
    pool: str | None
    settled: bool
    reviews: tuple[Review, ...]

    @property
    def held(self) -> bool:
        """Whether the topics still hold the verdict, and not only the reviews of it."""
        return self.at != UNKNOWN_TIME

    @property
    def sampled(self) -> bool:
        """Whether this is a spot check: an accepted verdict, drawn by lot."""
        return self.pool == "checks"

    @property
    def standing(self) -> Review | None:
        return standing(self.reviews, self.verdict.decision)

    @property
    def waits_for(self) -> Literal["approval", "second", ""]:
        """For another person who decides the same, or one who does not see what was said."""
        if unapproved(self.reviews, self.verdict.decision):
            return "approval"
        return "second" if waits(self.reviews, self.verdict.decision) else ""

    def hidden_from(self, person: str) -> bool:
        """Whether ``person`` is to judge it without seeing what the first reviewer said."""
        said = judged_by(self.reviews)
        return (
            len(said) == 1
            and person not in said
            and all(one.double_blind is not None for one in said.values())
        )


_OF_A_CASE = (
    *("cases", "bodies", "reviews", "published", "decisions", "opinions", "labelled"),
    *("agreement", "due", "proposals"),
)


class CaseStore(IndexFile):
    """All cases, reviews and what they led to. For one thread."""

    def __init__(
        self, leakage_sample: float, file: Path | None = None, topics: Collection[str] = ()
    ) -> None:
        """``file`` is kept, and read on from where it was made of the same ``topics``."""
        self._least_rate = leakage_sample
        super().__init__(file, {"topics": sorted(topics), "leakage_sample": leakage_sample})

    def _load_state(self, state: Mapping[str, str]) -> None:
        rate = state.get("sample_rate", "1" if self._least_rate else "0")
        self.sample_rate = float(rate)
        """The share of the accepted verdicts that are spot checks: those of the smallest lots. It
        falls as they come, to ``leakage_sample``, and leaves `SAMPLE` of them at the least."""
        at, _, revision = state.get("latest", str(UNKNOWN_TIME)).partition(" ")
        self.latest: tuple[int, str] = (int(at), revision)
        """When the latest verdict of a scorer was published, and the scorer's revision."""

    def _save_state(self) -> None:
        self._remember("sample_rate", repr(self.sample_rate))
        self._remember("latest", f"{self.latest[0]} {self.latest[1]}")

    def add_verdict(self, verdict: Verdict, at: int, place: str = "") -> str:
        """Note a verdict of ``accepted`` or ``quarantine``; returns its case. ``place`` is where
        on the topic it is, as partition:offset.

        Of a scorer's verdicts on one case the latest counts; of two at once the one that stops.
        """
        case = case_id(verdict)
        if verdict.review:
            self._add_published(case, verdict, at)
            return case
        known = self.one("SELECT at, decision FROM cases WHERE id = ?", case)
        stops = verdict.decision != "accepted"
        if known and (known[0], known[1] != "accepted") > (at, stops):
            return case
        self._put_case(case, verdict, at, place)
        if verdict.scorer_revision:
            self.latest = max(self.latest, (at, verdict.scorer_revision))
        return case

    def add_review(self, review: Review) -> str:
        """Note a review; returns its case. The same review twice is one."""
        case = case_id(review.verdict)
        at = int(moment(review.decided_at).timestamp() * 1000)
        if not self.one("SELECT 1 FROM cases WHERE id = ?", case):
            # Not read yet, or gone by retention: the review has it, and any record is newer.
            self._put_case(case, review.verdict, UNKNOWN_TIME, "")
        self.connection.execute(
            "INSERT OR IGNORE INTO reviews VALUES (?, ?, ?, ?, ?)",
            (review.id, case, review.person, at, _packed(review.to_json())),
        )
        self.connection.execute(
            "INSERT OR IGNORE INTO bodies VALUES (?, ?)", (case, _packed(review.verdict.to_json()))
        )
        if review.description:
            row = (review.id, case, at)
            self.connection.execute("INSERT OR IGNORE INTO proposals VALUES (?, ?, ?)", row)
        self._settle(case)
        return case

    def erase(self, documents: Iterable[str]) -> None:
        with self.batch():
            for doc_id in documents:
                found = self.connection.execute(
                    "SELECT id FROM cases WHERE doc_id = ? UNION "
                    "SELECT case_id FROM decisions WHERE doc_id = ? UNION "
                    "SELECT case_id FROM published WHERE doc_id = ?",
                    (doc_id, doc_id, doc_id),
                )
                cases = found.fetchall()
                for table in _OF_A_CASE:
                    name = "id" if table == "cases" else "case_id"
                    self.connection.executemany(
                        f"DELETE FROM {table} WHERE {name} = ?",  # noqa: S608 - a table of ours
                        cases,
                    )
        # The log of a kept file would hold for a while what is deleted in the file.
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def add_decision(self, decision: StandingDecision) -> None:
        """Note that the effect of a case's reviews is out, and up to which review."""
        said = decision
        row = (said.case_id, said.review_id, said.judged, said.doc_id, said.decision)
        self.connection.execute("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?)", row)

    def carried_out(self, case: str) -> tuple[str, str] | None:
        """The last review of a case whose effect is out, and the verdict it was applied to."""
        row = self.one("SELECT review_id, judged FROM decisions WHERE case_id = ?", case)
        return (str(row[0]), str(row[1])) if row else None

    def reviewed(self, case: str) -> bool:
        return self.one("SELECT 1 FROM reviews WHERE case_id = ?", case) is not None

    def case(self, case: str) -> Case | None:
        row = self.one("SELECT at, pool, settled FROM cases WHERE id = ?", case)
        body = self.one("SELECT verdict FROM bodies WHERE case_id = ?", case)
        if not row or not body:
            return None
        verdict = Verdict.model_validate_json(_unpacked(body[0]))
        return Case(case, verdict, row[0], row[1], bool(row[2]), tuple(self.reviews_of(case)))

    def place_of(self, case: str) -> str | None:
        """Where the verdict of a case is on ``accepted``, if only there it can be read."""
        row = self.one("SELECT place FROM cases WHERE id = ? AND decision = 'accepted'", case)
        body = self.one("SELECT 1 FROM bodies WHERE case_id = ?", case)
        return str(row[0]) if row and row[0] and not body else None

    def keep(self, case: str, verdict: Verdict) -> None:
        self.connection.execute(
            "INSERT OR IGNORE INTO bodies VALUES (?, ?)", (case, _packed(verdict.to_json()))
        )

    def rivals(self, verdict: Verdict) -> list[Case]:
        return [case for name in rival_cases(verdict) if (case := self.case(name))]

    def next_case(self, wanted: CaseFilter, person: str, taken: Collection[str]) -> str | None:
        """The first case of the filter that is not ``taken`` by another reviewer."""
        return next((c for c in self.cases(wanted, person, len(taken) + 1) if c not in taken), None)

    def cases(self, wanted: CaseFilter, person: str, limit: int) -> list[str]:
        query, values = self._select("id", wanted, person)
        rows = self.connection.execute(
            f"{query} ORDER BY {order(wanted)} LIMIT ?", (*values, limit)
        )
        return [row[0] for row in rows]

    def candidates(self, wanted: CaseFilter, person: str) -> Iterator[Candidate]:
        """Some hundreds of its open cases: the most uncertain, and those of the rarest types."""
        what = "id, margin, entity_type, entity_type || reasons || model"
        query, values = self._select(what, wanted, person)
        found = self.connection.execute(f"{query} ORDER BY margin, id LIMIT {_UNCERTAIN}", values)
        rows = {row[0]: row for row in found}
        few = self.connection.execute(
            "SELECT DISTINCT entity_type FROM cases WHERE pool = 'queue' AND settled = 0 ORDER BY "
            "(SELECT count(*) FROM labelled WHERE labelled.entity_type = cases.entity_type), 1 "
            "LIMIT ?",
            (_TYPES,),
        )
        for (entity_type,) in few.fetchall():
            own = self.connection.execute(
                f"{query} AND entity_type = ? ORDER BY margin, id LIMIT {_OF_A_TYPE}",
                (*values, entity_type),
            )
            rows |= {row[0]: row for row in own}
        count = "SELECT count(*), coalesce(sum(alike = ?), 0) FROM labelled WHERE entity_type = ?"
        for found_id, distance, own, alike in rows.values():
            of_type, of_kind = self.connection.execute(count, (alike, own)).fetchone()
            yield Candidate(found_id, distance, of_type, of_kind)

    def by_lot(
        self, wanted: CaseFilter, person: str, without: Collection[str], position: int
    ) -> str | None:
        query, values = self._select("id", wanted, person)
        marks = ", ".join("?" * len(without))
        row = self.one(
            f"{query} AND id NOT IN ({marks}) ORDER BY lot, id LIMIT 1 OFFSET ?",
            *values,
            *without,
            position,
        )
        return str(row[0]) if row else None

    def draws(self, *, accepted: bool) -> int:
        """How many cases of the queue, or of the spot checks, were drawn by chance and judged."""
        query = "SELECT count(*) FROM labelled WHERE accepted = ? AND drawn IS NOT NULL"
        return self._number(query, accepted)

    def holds(self, case: str, wanted: CaseFilter, person: str) -> bool:
        query, values = self._select("1", wanted, person)
        return self.one(f"{query} AND id = ?", *values, case) is not None

    def count(self, wanted: CaseFilter, person: str) -> int:
        query, values = self._select("count(*)", wanted, person)
        return self._number(query, *values)

    def reviews_of(self, case: str) -> list[Review]:
        return self._reviews("SELECT review FROM reviews WHERE case_id = ? ORDER BY at, id", case)

    def reviews_by(self, person: str, limit: int) -> list[Review]:
        query = "SELECT review FROM reviews WHERE person = ? ORDER BY at DESC, id LIMIT ?"
        return self._reviews(query, person, limit)

    def proposals(self, limit: int) -> list[Review]:
        """The latest reviews that propose a description of their field, latest first. Those that
        were taken back are among them: the decision was wrong, not the words."""
        query = (
            "SELECT review FROM proposals JOIN reviews USING (id) "
            "ORDER BY proposals.at DESC, id LIMIT ?"
        )
        return self._reviews(query, limit)

    def review(self, review_id: str) -> Review | None:
        return next(iter(self._reviews("SELECT review FROM reviews WHERE id = ?", review_id)), None)

    def knows_review(self, review_id: str) -> bool:
        return self.one("SELECT 1 FROM reviews WHERE id = ?", review_id) is not None

    def reviews_made(self, person: str) -> int:
        """How many reviews the person ever made, skips and undos included."""
        return self._number("SELECT count(*) FROM reviews WHERE person = ?", person)

    def published(self, case: str) -> Verdict | None:
        row = self.one(
            "SELECT verdict FROM published WHERE case_id = ? ORDER BY at DESC, rowid DESC", case
        )
        return Verdict.model_validate_json(_unpacked(row[0])) if row else None

    def answered(self, case: str, judged: str) -> bool:
        """Whether a decision was applied to this verdict of a scorer, or to an unnamed one."""
        query = "SELECT 1 FROM published WHERE case_id = ? AND judged IN (?, '')"
        return self.one(query, case, judged) is not None

    def _add_published(self, case: str, verdict: Verdict, at: int) -> None:
        self.connection.execute(
            "INSERT INTO published VALUES (?, ?, ?, ?, ?) ON CONFLICT (case_id, judged) DO UPDATE "
            "SET at = excluded.at, verdict = excluded.verdict WHERE excluded.at >= at",
            (case, _judged(verdict), at, _packed(verdict.to_json()), verdict.doc_id),
        )

    def _put_case(self, case: str, verdict: Verdict, at: int, place: str) -> None:
        stopped, drawn = verdict.decision != "accepted", lot(verdict)
        pool = "queue" if stopped else "checks" if drawn < self.sample_rate else None
        extractor = verdict.extractor
        self.connection.execute(
            # What the reviews lead to, `_settle` says below.
            "INSERT OR REPLACE INTO cases "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)",
            (
                case,
                at,
                verdict.decision,
                verdict.entity_type,
                extractor.model if extractor else "",
                extractor.prompt_digest if extractor else "",
                verdict.doc_id,
                f" {' '.join(verdict.reasons)} ",
                f" {' '.join(verdict.error_types.types if verdict.error_types else ())} ",
                verdict.score,
                margin(verdict),
                drawn,
                verdict.scorer_revision or "",
                pool,
                place,
            ),
        )
        if pool == "checks" and self.sample_rate > self._least_rate:
            self._thin_sample()
        if pool or self.reviewed(case):
            self.connection.execute(
                "INSERT OR REPLACE INTO bodies VALUES (?, ?)", (case, _packed(verdict.to_json()))
            )
            self._settle(case)  # what a scorer lets pass waits for nobody, and the other way round
        else:
            self.connection.execute("DELETE FROM bodies WHERE case_id = ?", (case,))

    def _thin_sample(self) -> None:
        """Keep the `SAMPLE` smallest lots: whichever order verdicts come in, the same."""
        (count, largest) = self.connection.execute(
            "SELECT count(*), max(lot) FROM cases WHERE pool = 'checks'"
        ).fetchone()
        if count > SAMPLE:
            self.sample_rate = max(self._least_rate, largest)
            self.connection.execute(
                "UPDATE cases SET pool = NULL WHERE pool = 'checks' AND lot >= ?",
                (self.sample_rate,),
            )

    def _settle(self, case: str) -> None:
        reviews = self.reviews_of(case)
        if not reviews:
            return
        row = self.one("SELECT decision FROM cases WHERE id = ?", case)
        says: Decision | None = row[0] if row else None
        in_force = opinions(reviews)
        self.connection.execute("DELETE FROM opinions WHERE case_id = ?", (case,))
        self.connection.executemany(
            "INSERT INTO opinions VALUES (?, ?, ?)",
            [(case, name, review.decision in JUDGED) for name, review in in_force.items()],
        )
        judged = any(review.decision in JUDGED for review in in_force.values())
        self.connection.execute(
            "UPDATE cases SET settled = ?, waiting = ? WHERE id = ?",
            (judged, waits(reviews, says), case),
        )
        self.connection.execute("DELETE FROM labelled WHERE case_id = ?", (case,))
        if stands := standing(reviews):
            self._label(case, stands)
        self.connection.execute("DELETE FROM agreement WHERE case_id = ?", (case,))
        if pair := blind_pair(reviews):
            row = (case, reviews[0].verdict.entity_type, *pair)
            self.connection.execute("INSERT INTO agreement VALUES (?, ?, ?, ?)", row)

    def _label(self, case: str, stands: Review) -> None:
        verdict, draw = stands.verdict, stands.draw
        model = verdict.extractor.model if verdict.extractor else ""
        by_chance = draw.model_dump_json() if draw else ("" if stands.sampled else None)
        self.connection.execute(
            "INSERT INTO labelled VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                case,
                verdict.scorer_revision or "",
                verdict.entity_type,
                f"{verdict.entity_type} {' '.join(verdict.reasons)} {model}",
                verdict.decision == "accepted",
                stands.decision != "supports",
                verdict.score,
                verdict.threshold,
                by_chance,
            ),
        )

    def _select(self, what: str, wanted: CaseFilter, person: str) -> tuple[str, list[object]]:
        has_skips = self.one(ANY_SKIP, person) is not None
        return select(what, wanted, person, has_skips=has_skips)

    def _number(self, query: str, *values: object) -> int:
        row = self.one(query, *values)
        return int(row[0]) if row else 0

    def _reviews(self, query: str, *values: object) -> list[Review]:
        rows = self.connection.execute(query, values)
        return [Review.model_validate_json(_unpacked(row[0])) for row in rows]


def _judged(verdict: Verdict) -> str:
    return (verdict.review and verdict.review.judged) or ""


def _packed(raw: bytes) -> bytes:
    return _COMPRESSOR.compress(raw)


def _unpacked(packed: object) -> bytes:
    assert isinstance(packed, bytes)  # noqa: S101 - the column is a BLOB of ours
    return zstandard.decompress(packed)
