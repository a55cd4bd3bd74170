"""The reviewers' desk: who gets which case, what is saved, and what follows from it.

::

    DeskError
    ├── CaseGone       there is no such case
    ├── CaseTaken      another reviewer has it open
    ├── CaseChanged    it was decided since the page was shown
    └── NotSaved       the broker did not confirm the decision
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from safepassage.schemas import Draw, Review, ReviewDecision, StandingDecision, Verdict, stable_id
from safepassage.schemas.base import Json
from safepassage.schemas.review import DecisionReason
from safepassage.schemas.reviews_that_count import JUDGED, moment, opinions, standing
from safepassage.schemas.reviews_that_count import case_id as case_of
from safepassage.schemas.rivals import reads_alike
from safepassage.scoring_worker.risk.draws import Chance, check_every, draw
from safepassage.streams.kafka.publisher import Publisher, PublishFailed
from safepassage.streams.kafka.records import Outgoing
from safepassage.streams.runtime import metrics
from safepassage.streams.settings import Settings
from safepassage.streams.topics import REVIEWS

from .index.case_filter import CaseFilter, Leases, double_lot
from .index.store import Case, CaseStore
from .reviewed_verdicts import Outcomes
from .session import Session

log = structlog.get_logger(__name__)

SAVE_PATIENCE_SECONDS = 10.0
MAX_DRAWS = 10_000
MAX_SECONDS_OPEN = 86_400.0
ReadAccepted = Callable[[str], Awaitable[Verdict | None]]
"""The accepted verdict at a place, as partition:offset; None where it cannot be read."""
ACCEPTING: frozenset[ReviewDecision] = frozenset(("supports", "corrected"))


class DeskError(Exception):
    """Nothing was saved. The message is for the reviewer."""


class CaseGone(DeskError):
    """There is no such case."""


class CaseTaken(DeskError):
    """Another reviewer has the case open."""


class CaseChanged(DeskError):
    """The case was decided since the page was shown."""


class NotSaved(DeskError):
    """The broker did not confirm the decision in time, or refuses it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reviewer says of a case. ``seen`` is the id of the decision that stood when the
    page was shown, "" if none; ``opened`` when that was, in seconds since the epoch. ``reason`` and
    ``comment`` say why, where the reviewer does."""

    case_id: str
    decision: ReviewDecision
    value: Json
    seen: str
    opened: float
    reason: DecisionReason | None = None
    comment: str = ""


class ReviewDesk:
    """One for all reviewers. ``ready`` turns true once the topics were read to their end."""

    def __init__(
        self,
        store: CaseStore,
        publisher: Publisher,
        settings: Settings,
        *,
        read_accepted: ReadAccepted | None = None,
        chance: Chance | None = None,
    ) -> None:
        self.store = store
        self._chance = chance or random.SystemRandom()
        self._draws: dict[str, tuple[str, Draw]] = {}
        self._read_accepted = read_accepted
        self._approvals = settings.console_approvals
        self._double_share = settings.console_double_share
        self.leases = Leases(settings.console_lease_seconds)
        self.ready = False
        self._publisher = publisher
        self._outcomes = Outcomes(store, publisher, settings.console_grace_seconds)
        self._saving: set[str] = set()

    def note_verdict(self, verdict: Verdict, at: int, place: str = "") -> None:
        """A verdict came in on a topic, at ``place`` (partition:offset)."""
        self._outcomes.judged(self.store.add_verdict(verdict, at, place), verdict)

    def note_review(self, review: Review) -> None:
        """A review was saved, by us or in an earlier life."""
        self._outcomes.reviewed(self.store.add_review(review), review)

    def note_decision(self, decision: StandingDecision) -> None:
        """The effect of a decision is out, in an earlier life."""
        self.store.add_decision(decision)

    def next_case(self, session: Session, wanted: CaseFilter) -> Case | None:
        """The case to judge next: the one that is open in this session, as long as it belongs
        to the filter; else the first that nobody else has open, which is leased."""
        case_id = self._open_case(session, wanted) or self._choose(session, wanted)
        if case_id is None:
            self.leases.release(session.id)
            return None
        if self._draws.get(session.id, ("",))[0] != case_id:
            self._draws.pop(session.id, None)
        self.leases.take(case_id, session.id, session.reviewer)
        return self.store.case(case_id)

    def look_at(self, case_id: str) -> Case:
        """A particular case, for those who decide nothing.

        Raises:
            CaseGone: there is no such case.
        """
        case = self.store.case(case_id)
        if case is None:
            raise CaseGone("There is no such case, or its topic no longer holds it.")
        return case

    def open_case(self, session: Session, case_id: str) -> tuple[Case, bool]:
        """A particular case, and whether it is this session's to decide.

        Raises:
            CaseGone: there is no such case.
        """
        case = self.look_at(case_id)
        return case, self.leases.take(case_id, session.id, session.reviewer)

    async def bring(self, case_ids: Iterable[str]) -> None:
        """Read the accepted verdicts that the index keeps no copy of, so that they can be shown."""
        for case_id in case_ids:
            place = self.store.place_of(case_id)
            if place is None or self._read_accepted is None:
                continue
            verdict = await self._read_accepted(place)
            if verdict is not None and case_of(verdict) == case_id:
                self.store.keep(case_id, verdict)

    async def decide(self, session: Session, answer: Answer) -> Review:
        """Save a decision; it is on the topic when this returns.

        Of values that contradict each other accepting one refuses the others, in the same
        publication and before it: what a crash cuts off is never a second accepted value.

        Raises:
            DeskError: nothing was saved; see the module's text.
        """
        case = self.look_at(answer.case_id)
        self._refuse_conflict(session, case, answer)
        rivals = self._rivals_to_refuse(session, case, answer)
        now = _now_after(case, *rivals)
        review = self._review(session, case, answer, now)
        refusal = Answer("", "insufficient", None, "", now.timestamp())
        refused = [self._review(session, rival, refusal, now) for rival in rivals]
        await self._save([*refused, review])
        self.leases.release(session.id)
        return review

    async def undo(self, session: Session, review_id: str) -> Review:
        """Take back a decision, and the refusals that were saved with it; returns the review that
        does it. Only a lead takes back what others decided.

        Raises:
            DeskError: nothing was saved; see the module's text.
        """
        taken_back = self.store.review(review_id)
        own = taken_back is not None and taken_back.person == session.person
        if taken_back is None or not (own or session.may("lead")):
            raise CaseGone("There is no such decision of yours.")
        case_id = case_of(taken_back.verdict)
        in_force = opinions(self.store.reviews_of(case_id)).get(taken_back.person)
        if in_force is None or in_force.id != review_id:
            raise CaseChanged("This decision is no longer the latest of its reviewer on its case.")
        refusals = self._refused_with(self._acceptance_lost(taken_back, session))
        now = _now_after(*filter(None, map(self.store.case, [case_id, *map(_case_of, refusals)])))
        with_it = [_undoing(refusal, session, now) for refusal in refusals]
        review = _undoing(taken_back, session, now)
        await self._save([review, *with_it])
        return review

    async def publish_due(self) -> None:
        """Publish what follows from decisions whose grace is over (see `Outcomes`).

        Raises:
            PublishFailed: the broker does not take them; they stay due.
        """
        await self._outcomes.publish_due()

    def refusal(self, review: Review) -> str | None:
        """The error with which the broker refuses what the decision on a review's case leads to."""
        return self._outcomes.refusal(case_of(review.verdict))

    def _open_case(self, session: Session, wanted: CaseFilter) -> str | None:
        held = self.leases.held_by(session.id)
        if held is None:
            return None
        pools = [wanted]
        if wanted.pool == "queue":
            pools += [CaseFilter(pool="double"), CaseFilter(pool="checks")]
        return held if any(self.store.holds(held, p, session.person) for p in pools) else None

    def _choose(self, session: Session, wanted: CaseFilter) -> str | None:
        taken = self.leases.taken_from(session.id)
        order = [wanted]
        if wanted.pool == "queue":
            order.append(CaseFilter(pool="checks"))
            every = check_every(self.store.draws(accepted=True))
            if self.store.reviews_made(session.person) % every == every - 1:
                order.reverse()
            order.insert(0, CaseFilter(pool="double"))
        found = (self._next(pool, session, taken) for pool in order)
        return next((case_id for case_id in found if case_id), None)

    def _next(self, wanted: CaseFilter, session: Session, taken: set[str]) -> str | None:
        """The next case of a filter: the first, or where chance decides, a draw, which is kept
        for the review."""
        if not wanted.drawn:
            return self.store.next_case(wanted, session.person, taken)
        own = {case for case in taken if self.store.holds(case, wanted, session.person)}
        among = self.store.count(wanted, session.person) - len(own)
        if among < 1:
            return None
        checks = wanted.pool == "checks"
        top = [] if checks else self.store.teaching(wanted, session.person, own)
        drawn = draw(range(len(top)), among, self._chance)
        if drawn.position < len(top):
            case_id: str | None = top[drawn.position]
        else:
            # The lots are as good as chance, and the same after a restart.
            position = 0 if checks else drawn.position - len(top)
            case_id = self.store.by_lot(wanted, session.person, own | set(top), position)
        if case_id:
            said = Draw(
                probability=drawn.probability,
                among=among,
                before=self.store.draws(accepted=checks),
                rate=self.store.sample_rate if checks else 1.0,
            )
            self._draws[session.id] = (case_id, said)
            while len(self._draws) > MAX_DRAWS:
                self._draws.pop(next(iter(self._draws)))
        return case_id

    def _refuse_conflict(self, session: Session, case: Case, answer: Answer) -> None:
        lease = self.leases.on(case.id)
        if case.id in self._saving or (lease and lease.holder != session.id):
            name = lease.reviewer if lease else "Somebody"
            raise CaseTaken(f"{name} has this case open. Your decision was not saved.")
        stands = case.standing
        if stands and stands.id != answer.seen:
            said = f"{stands.reviewer} decided this case meanwhile: {stands.decision}."
            if case.hidden_from(session.person):
                said = "Somebody decided this case meanwhile."
            raise CaseChanged(f"{said} Your decision was not saved.")

    def _rivals_to_refuse(self, session: Session, case: Case, answer: Answer) -> list[Case]:
        """The open cases that accepting this one decides as well: once the acceptance counts."""
        if answer.decision not in ACCEPTING:
            return []
        accepting = self._review(session, case, answer, _now_after(case))
        if standing([*case.reviews, accepting], case.verdict.decision) != accepting:
            return []
        value = answer.value if answer.decision == "corrected" else case.verdict.value
        rivals = self.store.rivals(case.verdict)
        rivals = [rival for rival in rivals if not reads_alike(value, rival.verdict.value)]
        for rival in rivals:
            stands = rival.standing
            if stands and stands.decision in ACCEPTING:
                raise CaseChanged(
                    f"{stands.reviewer} accepted another value of this field. "
                    "That has to be taken back first; your decision was not saved."
                )
            lease = self.leases.on(rival.id)
            if rival.id in self._saving or (lease and lease.holder != session.id):
                name = lease.reviewer if lease else "Somebody"
                raise CaseTaken(f"{name} has a value open that contradicts this one. Not saved.")
        return [rival for rival in rivals if rival.standing is None]

    def _acceptance_lost(self, taken_back: Review, session: Session) -> Review:
        """The acceptance that no longer stands without ``taken_back``, which may be one of two
        approvals and not the one that counted; else ``taken_back``."""
        case = self.look_at(case_of(taken_back.verdict))
        without = [*case.reviews, _undoing(taken_back, session, _now_after(case))]
        after = standing(without, case.verdict.decision)
        stood = case.standing
        lost = stood and stood.decision in ACCEPTING and (not after or after.id != stood.id)
        return stood if lost and stood else taken_back

    def _refused_with(self, accepting: Review) -> list[Review]:
        """The refusals in force that were saved together with ``accepting``."""
        found = (
            opinions(rival.reviews).get(accepting.person)
            for rival in self.store.rivals(accepting.verdict)
        )
        return [
            review
            for review in found
            if review
            and review.decision == "insufficient"
            and review.decided_at == accepting.decided_at
        ]

    def _review(self, session: Session, case: Case, answer: Answer, now: datetime) -> Review:
        drawn = self._draws.get(session.id)
        before = next((review.draw for review in case.reviews if review.draw), None)
        by_chance = drawn[1] if drawn and drawn[0] == case.id else before
        return Review(
            id=stable_id("review", case.id, session.person, now.isoformat()),
            verdict=case.verdict,
            decision=answer.decision,
            value=answer.value,
            reviewer=session.reviewer,
            decided_at=now,
            seconds=min(max(0.0, now.timestamp() - answer.opened), MAX_SECONDS_OPEN),
            # Its lot may have left the sample while the case was open.
            sampled=case.sampled or (by_chance is not None and case.verdict.decision == "accepted"),
            supersedes=self._own_opinion(session, case),
            draw=by_chance,
            reason=answer.reason,
            comment=answer.comment,
            login=session.login,
            approvals=self._approvals,
            double_blind=self._double_blind(session, case),
        )

    def _double_blind(self, session: Session, case: Case) -> float | None:
        """The probability with which the case was drawn for two reviewers, for the decision of one
        who never could see another's. The rule is that of the first decision."""
        judged = [review for review in case.reviews if review.decision in JUDGED]
        others = {review.person: review for review in judged if review.person != session.person}
        if not others:
            return self._double_share if double_lot(case.id) < self._double_share else None
        first_word = all(review.person != session.person for review in judged)
        if len(others) > 1 or not first_word:
            return None
        return next(iter(others.values())).double_blind

    @staticmethod
    def _own_opinion(session: Session, case: Case) -> str | None:
        own = opinions(case.reviews).get(session.person)
        return own.id if own else None

    async def _save(self, reviews: Sequence[Review]) -> None:
        """Publish ``reviews``, which are of one document, in order and in one go."""
        cases = {case_of(review.verdict) for review in reviews}
        self._saving |= cases
        sending = asyncio.ensure_future(
            self._publisher.publish([Outgoing(REVIEWS, r.verdict.doc_id, r) for r in reviews])
        )
        try:
            refused = await asyncio.wait_for(asyncio.shield(sending), SAVE_PATIENCE_SECONDS)
        except TimeoutError:
            sending.add_done_callback(_seen)  # should it still arrive, it comes back on the topic
            raise NotSaved("Kafka did not confirm it in time. Please decide again.") from None
        except PublishFailed:
            raise NotSaved("Kafka does not take it. Please decide again in a while.") from None
        finally:
            self._saving -= cases
        for at, review in enumerate(reviews):
            if at not in refused:
                self.note_review(review)
                metrics.REVIEWS.labels(review.decision).inc()
                log.info("reviewed", review_id=review.id, verdict_id=review.verdict.id)
        if refused:
            raise NotSaved(f"Kafka refuses the record: {next(iter(refused.values()))}.")


def _case_of(review: Review) -> str:
    return case_of(review.verdict)


def _now_after(*cases: Case) -> datetime:
    """The time, and later than every review of ``cases``: what stands is the last by its time, so
    that after the clock was set back a decision would count for nothing."""
    latest = max(
        (moment(review.decided_at) for case in cases for review in case.reviews),
        default=datetime.min.replace(tzinfo=UTC),
    )
    return max(datetime.now(UTC), latest + timedelta(milliseconds=1))


def _undoing(taken_back: Review, session: Session, now: datetime) -> Review:
    return Review(
        id=stable_id("review-undone", taken_back.id),
        verdict=taken_back.verdict,
        decision="undone",
        reviewer=session.reviewer,
        decided_at=now,
        sampled=taken_back.sampled,
        draw=taken_back.draw,
        supersedes=taken_back.id,
        login=session.login,
    )


def _seen(sending: asyncio.Future[dict[int, str]]) -> None:
    if not sending.cancelled():
        sending.exception()
