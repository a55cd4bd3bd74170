"""What every page is rendered with, and the pages that several handlers answer with."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from safepassage.agents.document_store import DocumentStore
from safepassage.schemas.error_type import DESCRIPTIONS
from safepassage.schemas.wording import REASONS

from ..index import measures
from ..index.case_filter import CaseFilter
from ..index.store import Case
from ..leases import LeasesAway
from ..review_desk import CaseChanged, CaseGone, CaseTaken, DeskError, NotSaved, ReviewDesk
from ..session import Session
from .case_page import case_page, claim, query_string
from .correction import REASON_BUTTONS
from .login import Entrance
from .originals import EvidencePages, Originals
from .templating import render
from .texts import document_text

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


FRESH_SECONDS = 2.0

_STATUS: dict[type[Exception], int] = {
    CaseGone: 404,
    CaseTaken: 409,
    CaseChanged: 409,
    NotSaved: 503,
    LeasesAway: 503,
}


@dataclass(eq=False)
class Views:
    desk: ReviewDesk
    texts: DocumentStore
    entrance: Entrance
    originals: Originals | None = None
    _facets: tuple[float, dict[str, object]] = (-FRESH_SECONDS, {})

    def frame(self, session: Session) -> dict[str, object]:
        return {
            "reviewer": session.reviewer,
            "csrf": self.entrance.csrf(session),
            "decides": session.may("reviewer"),
            "leads": session.may("lead"),
        }

    def forbidden(self, session: Session) -> Response:
        message = f"You are logged in as a {session.role}, who may not do this."
        return render("notice.html", self.frame(session) | {"message": message, "query": ""}, 403)

    def notice(
        self, session: Session, wanted: CaseFilter, error: DeskError | LeasesAway
    ) -> Response:
        context = {"message": str(error), "query": query_string(wanted)}
        return render("notice.html", self.frame(session) | context, _STATUS[type(error)])

    def queue_frame(
        self, request: Request, session: Session, wanted: CaseFilter
    ) -> dict[str, object]:
        saved = self.desk.store.review(request.query_params.get("saved", ""))
        own = saved if saved and saved.person == session.person else None
        return (
            self.frame(session)
            | self._fresh_facets()
            | {
                "wanted": wanted,
                "query": query_string(wanted),
                "kept": wanted.query(),
                "left": self.desk.store.count(wanted, session.person),
                "saved": own,
                "saved_claim": claim(own.verdict) if own else "",
                "undone": "undone" in request.query_params,
                "words": {
                    "pool": POOLS,
                    "order": ORDERS,
                    "age": AGES,
                    "reason": REASONS,
                    "error_type": DESCRIPTIONS,
                },
            }
        )

    def _fresh_facets(self) -> dict[str, object]:
        """Counting all cases takes a while with many; a count of a moment ago will do."""
        at, found = self._facets
        if time.monotonic() - at > FRESH_SECONDS:
            store = self.desk.store
            found = {"facets": measures.facets(store), "leaked": measures.leakage(store)[0].leaked}
            self._facets = time.monotonic(), found
        return found

    async def case(
        self,
        request: Request,
        session: Session,
        case: Case,
        wanted: CaseFilter,
        *,
        mine: bool = True,
        alert: str = "",
        typed: Mapping[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        """One case. ``typed`` is a form to show again, ``alert`` why."""
        around = request.query_params.get("around", "")
        blind = wanted.pool == "second" or case.hidden_from(session.person)
        rivals = self.desk.store.rivals(case.verdict)
        page = case_page(
            case,
            await document_text(self.texts, case.verdict),
            int(around) if around.isdecimal() and len(around) < 9 else 0,
            typed,
            blind=blind,
            rivals=rivals,
            hidden=self._hidden(session, case, rivals),
        )
        lease = await self.desk.leases.on(case.id)
        stands = case.standing
        pages = await self.originals.pages(case.verdict) if self.originals else EvidencePages()
        context = {
            "page": page,
            "pages": pages,
            "mine": mine,
            "holder": lease.reviewer if lease else "",
            "alert": alert,
            "refusal": stands and not blind and self.desk.refusal(stands),
            "correcting": typed is not None and typed.get("decision") == "corrected",
            "seen": stands.id if stands else "",
            "waits_for": "" if blind else case.waits_for,
            "reason_buttons": REASON_BUTTONS,
            "comment": (typed or {}).get("comment", ""),
            "description": (typed or {}).get("description", described(case)),
            "opened": (typed or {}).get("opened") or f"{time.time():.3f}",
        }
        return render("case.html", self.queue_frame(request, session, wanted) | context, status)

    def _hidden(self, session: Session, case: Case, rivals: Sequence[Case]) -> set[str]:
        """The cases beside ``case`` that the reviewer is to judge without seeing what was said."""
        memory = case.verdict.memory
        alike = [self.desk.store.case(one.case_id) for one in (memory.cases if memory else ())]
        return {one.id for one in [*rivals, *alike] if one and one.hidden_from(session.person)}


def described(case: Case) -> str:
    """What the schema says of the field; "" where it says nothing."""
    field = case.verdict.field
    return (field and field.description) or ""
