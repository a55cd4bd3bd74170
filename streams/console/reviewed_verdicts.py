"""What decisions lead to: verdicts once the grace is over, and a note that they are out.

The note, on ``decisions``, makes old decisions inert. Reviews are kept for ever; the verdicts that
they led to may not be, and a console that finds none of them must not publish them as new.

What the broker refuses is not out: the case stays due and is tried again, by the next process too,
since no note says that it is out.
"""

import asyncio
import time
from dataclasses import dataclass

import structlog

from safepassage.schemas import Review, Verdict
from safepassage.schemas.reviews_that_count import moment
from safepassage.schemas.verdict_after_review import decision_on, next_verdict

from ..kafka.publisher import Publisher
from ..kafka.records import Outgoing
from ..topics import ACCEPTED, DECISIONS, QUARANTINE
from .index.store import Case, CaseStore

log = structlog.get_logger(__name__)

RETRY_SECONDS = 60.0
"""Until a refused record is tried again: only another setting of the broker lets it pass."""
AT_ONCE = 500  # Cases that are taken from the index at once


class _Refused(Exception):
    """The broker refuses a record. The message is the error's name."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Which cases are due, and what is published of them. ``grace`` is in seconds.

    What is due is in the index: as many cases as people ever reviewed are due after it was
    built, and a kept one must not forget any. Where two processes carry out one decision, as when
    one of them slept beyond its lease, the events have the same ids, and count once.
    """

    store: CaseStore
    publisher: Publisher
    grace: float

    @property
    def owed(self) -> bool:
        return self.store.one("SELECT 1 FROM due LIMIT 1") is not None

    def refusal(self, case_id: str) -> str | None:
        """The error with which the broker refuses what a case's decision leads to."""
        row = self.store.one("SELECT refused FROM due WHERE case_id = ?", case_id)
        return (row and str(row[0])) or None

    def reviewed(self, case_id: str, review: Review) -> None:
        """A review of the case was saved, by us or in an earlier life. A wall clock that was set
        back since, or another process's that is ahead, makes nobody wait for longer than the
        grace."""
        now = time.time()
        at = min(moment(review.decided_at).timestamp(), now) + self.grace
        self._say(case_id, at, "at = excluded.at, ")

    def judged(self, case_id: str, verdict: Verdict) -> None:
        """A verdict came in. Where a scorer judges what a person decided before, or a worker puts
        an earlier decision in its place, it did not know of the decision yet, and downstream has
        to be told again."""
        by_a_worker = verdict.review is None or verdict.review.in_place
        if by_a_worker and self.store.reviewed(case_id):
            self._say(case_id, time.time(), "")

    async def publish_due(self) -> None:
        """Publish what follows once the grace is over. A refused record holds up no other case."""
        # A clock that was set back meanwhile must not hold up what was due for longer than this.
        longest = max(self.grace, RETRY_SECONDS)
        while due := self.store.connection.execute(
            "SELECT case_id, said FROM due WHERE at <= ?1 OR at > ?1 + ?2 ORDER BY at LIMIT ?3",
            (time.time(), longest, AT_ONCE),
        ).fetchall():
            for case_id, said in due:
                refused = ""
                if case := self.store.case(case_id):
                    try:
                        await self._carry_out(case)
                    except _Refused as error:
                        refused = str(error)
                self._carried_out(case_id, said, refused)
                await asyncio.sleep(0)  # after a restart every case ever reviewed is due

    def _say(self, case_id: str, at: float, change: str) -> None:
        self.store.connection.execute(
            "INSERT INTO due (case_id, at) VALUES (?, ?) ON CONFLICT (case_id) DO UPDATE "  # noqa: S608
            f"SET {change}said = said + 1",
            (case_id, at),
        )

    def _carried_out(self, case_id: str, said: int, refused: str) -> None:
        """Unless something else was said of the case meanwhile, or its document was erased."""
        if refused:
            change = "UPDATE due SET at = ?, refused = ? WHERE case_id = ? AND said = ?"
            values: tuple[object, ...] = (time.time() + RETRY_SECONDS, refused, case_id, said)
        else:
            change, values = "DELETE FROM due WHERE case_id = ? AND said = ?", (case_id, said)
        self.store.connection.execute(change, values)

    async def _carry_out(self, case: Case) -> None:
        decision = decision_on(case.verdict, case.reviews)
        before = self.store.carried_out(case.id)
        if decision is None:
            return
        if before == (decision.review_id, decision.judged):
            await self._correct_late(case)
            return
        only_newer = before is not None and before[0] == decision.review_id
        if verdict := self._follows(case, only_newer=only_newer):
            await self._publish_verdict(verdict)
        # After the verdict, so that a crash in between repeats it instead of losing it.
        await self._publish(Outgoing(DECISIONS, case.id, decision))
        self.store.add_decision(decision)

    async def _correct_late(self, case: Case) -> None:
        """Publish it again where a worker that knew an earlier decision spoke after it."""
        published = self.store.published(case.id)
        if not (published and published.review and published.review.in_place):
            return
        if verdict := next_verdict(case.verdict, case.standing, _cause(case), published):
            await self._publish_verdict(verdict)

    def _follows(self, case: Case, *, only_newer: bool) -> Verdict | None:
        """The verdict to publish. ``only_newer``: the decision was carried out, and a scorer
        judged the case again since; what was published before is of no account then."""
        cause = _cause(case)
        afresh = next_verdict(case.verdict, case.standing, cause, None)
        answered = self.store.answered(case.id, case.verdict.id)
        if only_newer:
            return None if answered else afresh
        published = self.store.published(case.id)
        if published is None:
            return afresh if case.held else None  # history: all of it has passed its retention
        follows = next_verdict(case.verdict, case.standing, cause, published)
        return follows or (None if answered else afresh)

    async def _publish_verdict(self, verdict: Verdict) -> None:
        topic = ACCEPTED if verdict.decision == "accepted" else QUARANTINE
        await self._publish(Outgoing(topic, verdict.doc_id, verdict))
        self.store.add_verdict(verdict, int(time.time() * 1000))
        log.info("reviewed_verdict", verdict_id=verdict.id, decision=verdict.decision)

    async def _publish(self, outgoing: Outgoing) -> None:
        if refused := await self.publisher.publish([outgoing]):
            log.error("outcome_refused", topic=outgoing.topic.name, error=refused[0])
            raise _Refused(refused[0])


def _cause(case: Case) -> Review:
    """The last review of a case that says something."""
    return [review for review in case.reviews if review.decision != "skipped"][-1]
