"""The reviewers' desk: who gets which case, what is saved, and what follows from it.

::

    DeskError
    ├── CaseGone       there is no such case
    ├── CaseTaken      another reviewer has it open
    ├── CaseChanged    it was decided since the page was shown
    └── NotSaved       the broker did not confirm the decision

`LeasesAway` is beside these: nobody knows who has which case.
"""

import asyncio
import contextlib
import random
import secrets
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
from safepassage.scoring_worker.risk.draws import Chance

from ..kafka.publisher import Publisher, PublishFailed, WriteRefused
from ..kafka.records import Outgoing
from ..runtime import metrics
from ..settings import Settings
from ..topics import REVIEWS
from .index.case_filter import CaseFilter, double_lot
from .index.next_case import choose
from .index.store import Case, CaseStore
from .leases import Lease, Leases, LeasesAway
from .reviewed_verdicts import Outcomes
from .session import Session

log = structlog.get_logger(__name__)

SAVE_PATIENCE_SECONDS = 10.0
LEAD_SECONDS = 15.0
LEAD = "lead"  # No case: who holds it publishes what decisions lead to, for all consoles
MAX_TRIES = 20  # Cases that are tried in a row which others took meanwhile
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
    """What a reviewer says of a case. ``seen`` is the id of the decision in force when the
    page was shown, "" if none; ``opened`` when that was, in seconds since the epoch. ``reason`` and
    ``comment`` say why, where the reviewer does; ``description`` is a better one of the field."""

    case_id: str
    decision: ReviewDecision
    value: Json
    seen: str
    opened: float
    reason: DecisionReason | None = None
    comment: str = ""
    description: str = ""


class ReviewDesk:
    """One for all reviewers. ``ready`` turns true once the topics were read to their end;
    ``refused`` is set where this console may not write decisions, which no repetition mends."""

    def __init__(
        self,
        store: CaseStore,
        publisher: Publisher,
        settings: Settings,
        *,
        read_accepted: ReadAccepted | None = None,
        chance: Chance | None = None,
        leases: Leases | None = None,
    ) -> None:
        self.store = store
        self._chance = chance or random.SystemRandom()
        self._process = secrets.token_hex(16)
        self._read_accepted = read_accepted
        self._approvals = settings.console_approvals
        self._double_share = settings.console_double_share
        self.leases = leases or Leases(settings.console_lease_seconds)
        self.ready = False
        self.refused: WriteRefused | None = None
        self._publisher = publisher
        self._outcomes = Outcomes(store, publisher, settings.console_grace_seconds)
        self._saving: set[str] = set()

    def note_verdict(self, verdict: Verdict, at: int, place: str = "") -> None:
        """A verdict came in on a topic, at ``place`` (partition:offset)."""
        self._outcomes.judged(self.store.add_verdict(verdict, at, place), verdict)

    def note_review(self, review: Review) -> None:
        self._outcomes.reviewed(self.store.add_review(review), review)

    def note_decision(self, decision: StandingDecision) -> None:
        """The effect of a decision is out, in an earlier life."""
        self.store.add_decision(decision)

    def erase(self, *documents: str) -> None:
        """Documents were erased: their cases are gone, and nothing is published of them."""
        self.store.erase(documents)

    @property
    def owes(self) -> bool:
        """Whether a decision is being saved, or has to be carried out, now or later."""
        return bool(self._saving) or self._outcomes.owed

    async def leads(self) -> bool:
        """Whether this console publishes what decisions lead to, as one of several does. Raises
        `LeasesAway` where nobody knows who does."""
        lease = self.leases.take(LEAD, self._process, "", beside=True, seconds=LEAD_SECONDS)
        return await lease is not None

    async def leave(self) -> None:
        """This console ends: another one leads."""
        with contextlib.suppress(LeasesAway):
            await self.leases.release(self._process)

    async def next_case(self, session: Session, wanted: CaseFilter) -> Case | None:
        """The case to judge next: the one that is open in this session, as long as it belongs to
        the filter; else the first that nobody else has open, which is leased. Raises `LeasesAway`
        where it is not known which cases are open, or too many just were taken."""
        leased = await self.leases.leased()
        taken = {case for case, lease in leased.items() if lease.holder != session.id}
        own = (case for case, lease in leased.items() if case not in taken and not lease.beside)
        case_id, drawn = next(own, None), None
        for _ in range(MAX_TRIES):
            if case_id is None:
                case_id, drawn = choose(self.store, wanted, session.person, taken, self._chance)
            if case_id is None:
                await self.leases.release(session.id)
                return None
            said = drawn.model_dump_json() if drawn else ""
            taking = self.leases.take(case_id, session.id, session.reviewer, drawn=said)
            # Only then: meanwhile the decision of another console may have come in.
            if await taking and self._is_wanted(case_id, session, wanted):
                return self.store.case(case_id)
            # Another console was faster. Drawn again among the others, as if it had been taken
            # before: given that it is not there, all of these have the probability that is noted.
            taken.add(case_id)
            case_id = None
        raise LeasesAway("Others took every case that was to be yours. Please try again.")

    def look_at(self, case_id: str) -> Case:
        """A particular case, for those who decide nothing. Raises `CaseGone` where there is no such
        case."""
        case = self.store.case(case_id)
        if case is None:
            raise CaseGone("There is no such case, or its topic no longer holds it.")
        return case

    async def open_case(self, session: Session, case_id: str) -> tuple[Case, bool]:
        """A particular case, and whether it is this session's to decide. Raises `CaseGone` where
        there is no such case; `LeasesAway` where it is not known whether another has it open."""
        case = self.look_at(case_id)
        return case, await self.leases.take(case_id, session.id, session.reviewer) is not None

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

        The cases are leased meanwhile, so that no other console decides one of them at once. Raises
        `DeskError` where nothing was saved; see the module's text; `LeasesAway` where nothing was
        saved, since others may have the case open."""
        self.look_at(answer.case_id)
        lease = await self._take(session, answer.case_id, "this case open. Your decision was")
        try:
            _, beside = self._judged(session, answer)
            for rival in beside:
                held = "a value open that contradicts this one. Your decision was"
                await self._take(session, rival.id, held)
            case, rivals = self._judged(session, answer)
            if not {rival.id for rival in rivals} <= {rival.id for rival in beside}:
                raise CaseChanged("A value that contradicts this one came in. Not saved.")
            now = _now_after(case, *rivals)
            drawn = Draw.model_validate_json(lease.drawn) if lease.drawn else None
            review = self._review(session, case, answer, now, drawn)
            refusal = Answer("", "insufficient", None, "", now.timestamp())
            refused = [self._review(session, rival, refusal, now) for rival in rivals]
            await self._save([*refused, review])
        except DeskError:
            if answer.case_id not in self._saving:  # by another tab, which keeps its leases
                await self.leases.take(answer.case_id, session.id, session.reviewer)
            raise
        await self._saved(session, [*refused, review])
        return review

    async def undo(self, session: Session, review_id: str) -> Review:
        """Take back a decision, and the refusals that were saved with it; returns the review that
        does it. Only a lead takes back what others decided. Raises `DeskError` where nothing was
        saved; see the module's text."""
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
        await self._saved(session, [review, *with_it])
        return review

    async def publish_due(self) -> None:
        await self._outcomes.publish_due()

    def refusal(self, review: Review) -> str | None:
        return self._outcomes.refusal(case_of(review.verdict))

    def _is_wanted(self, case_id: str, session: Session, wanted: CaseFilter) -> bool:
        pools = [wanted]
        if wanted.pool == "queue":
            pools += [CaseFilter(pool="double"), CaseFilter(pool="checks")]
        return any(self.store.holds(case_id, pool, session.person) for pool in pools)

    async def _take(self, session: Session, case_id: str, held: str) -> Lease:
        lease = await self.leases.take(case_id, session.id, session.reviewer, beside=True)
        if lease is None:
            other = await self.leases.on(case_id)
            raise CaseTaken(f"{other.reviewer if other else 'Somebody'} has {held} not saved.")
        return lease

    def _judged(self, session: Session, answer: Answer) -> tuple[Case, list[Case]]:
        case = self.look_at(answer.case_id)
        stands = case.standing
        if stands and stands.id != answer.seen:
            said = f"{stands.reviewer} decided this case meanwhile: {stands.decision}."
            if case.hidden_from(session.person):
                said = "Somebody decided this case meanwhile."
            raise CaseChanged(f"{said} Your decision was not saved.")
        rivals = self._rivals_to_refuse(session, case, answer)
        if self._saving & {case.id, *(rival.id for rival in rivals)}:
            raise CaseTaken("A decision on this case is being saved. This one was not.")
        return case, rivals

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
        return [rival for rival in rivals if rival.standing is None]

    def _acceptance_lost(self, taken_back: Review, session: Session) -> Review:
        """The acceptance that is no longer in force without ``taken_back``, which may be one of two
        approvals and not the one that counted; else ``taken_back``."""
        case = self.look_at(case_of(taken_back.verdict))
        without = [*case.reviews, _undoing(taken_back, session, _now_after(case))]
        after = standing(without, case.verdict.decision)
        stood = case.standing
        lost = stood and stood.decision in ACCEPTING and (not after or after.id != stood.id)
        return stood if lost and stood else taken_back

    def _refused_with(self, accepting: Review) -> list[Review]:
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

    def _review(
        self, session: Session, case: Case, answer: Answer, now: datetime, drawn: Draw | None = None
    ) -> Review:
        by_chance = drawn or next((review.draw for review in case.reviews if review.draw), None)
        own = opinions(case.reviews).get(session.person)
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
            supersedes=own.id if own else None,
            draw=by_chance,
            reason=answer.reason,
            comment=answer.comment,
            description=answer.description,
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
        except WriteRefused as error:
            self.refused = error
            raise NotSaved(f"Kafka refuses this console's decisions: {error}.") from None
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

    async def _saved(self, session: Session, reviews: Sequence[Review]) -> None:
        """It is saved regardless of what becomes of the leases, which run out by themselves."""
        with contextlib.suppress(LeasesAway):
            await self.leases.release(session.id, {_case_of(one): one.id for one in reviews})


def _case_of(review: Review) -> str:
    return case_of(review.verdict)


def _now_after(*cases: Case) -> datetime:
    """The time, and later than every review of ``cases``: what is in force is the last by its
    time, so that after the clock was set back a decision would count for nothing."""
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
