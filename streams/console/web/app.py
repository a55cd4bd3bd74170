"""The console over HTTP: pages and forms. What a form does is the desk's."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from safepassage.schemas import ReviewDecision
from safepassage.schemas.base import Json
from safepassage.schemas.review import DecisionReason
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.wording import REASONS

from ...kafka.publisher import PublishFailed
from ...runtime.errors import OperatorError
from ...runtime.health import health_app
from ...runtime.progress import Progress
from ...settings import Role, Settings
from ..index import measures
from ..index.case_filter import CaseFilter
from ..index.store import Case
from ..leases import LeasesAway
from ..login.modes import Login
from ..promise import Promise
from ..review_desk import Answer, CaseGone, DeskError, NotSaved, ReviewDesk
from ..session import Session
from .case_page import claim, query_string
from .correction import (
    BadCorrection,
    read_comment,
    read_correction,
    read_decision,
    read_description,
)
from .guard import Guard
from .learning import learning_page
from .login import CALLBACK, Entrance, foreign_form, login_path
from .originals import NoPicture, Originals
from .templating import STATIC, render
from .texts import document_text
from .views import POOLS, Views, described

if TYPE_CHECKING:
    from safepassage.agents.document_store import DocumentStore

    from ...learning.candidates import Candidates

LISTED_CASES = 50
LISTED_DECISIONS = 100

OPEN = frozenset(
    ("/", "/login", "/login/start", CALLBACK, "/logout", "/static", "/health", "/ready", "/metrics")
)
"""What needs no login: the way in and out, our own files, and counts."""

Handler = Callable[["Console", Request, Session], Awaitable[Response]]


def console_app(console: Console, progress: Progress) -> Starlette:
    """The whole console, with ``/health`` and ``/metrics`` of the process. Raises `LookupError`
    where a route declares no role, and is not open to everybody."""
    own_health = health_app([progress], console.settings.stalled_after_seconds)
    middleware = [Middleware(Guard)]
    if proxies := [str(network) for network in console.settings.console_proxies]:
        middleware.append(Middleware(ProxyHeadersMiddleware, trusted_hosts=proxies))
    routes = [*console.routes(), *own_health.routes]
    for route in routes:
        required_role(route)
    refusals = {HTTPException: console.refuse}
    return Starlette(routes=routes, middleware=middleware, exception_handlers=refusals)


def required_role(route: BaseRoute) -> Role | None:
    """The least role that a route is for; None where it is open to everybody. Raises `LookupError`
    where it says neither."""
    role: Role | None = getattr(getattr(route, "endpoint", None), "role", None)
    path = getattr(route, "path", "")
    if role is None and path not in OPEN:
        raise LookupError(f"{path} declares no role: mark its handler with `allowed`")
    return role


def allowed(role: Role) -> Callable[[Handler], Callable[[Console, Request], Awaitable[Response]]]:
    """For those who have ``role``, once the topics were read; a POST only with its token."""

    def mark(handler: Handler) -> Callable[[Console, Request], Awaitable[Response]]:
        @wraps(handler)
        async def guarded(console: Console, request: Request) -> Response:
            session = console.entrance.session(request)
            if session is None or not session.reviewer:
                return RedirectResponse(login_path(request), 303)
            if not session.may(role):
                return console.views.forbidden(session)
            if request.method == "POST" and not await console.entrance.is_ours(request, session):
                raise foreign_form()
            if not console.desk.ready:
                return render("loading.html", console.views.frame(session), 503)
            try:
                return await handler(console, request, session)
            except LeasesAway as error:
                return console.views.notice(session, CaseFilter(), error)
            except sqlite3.DatabaseError as error:
                console.desk.store.failed(error)
                raise

        guarded.role = role  # type: ignore[attr-defined]
        return guarded

    return mark


@dataclass(eq=False)
class Console:
    """Without ``originals`` no pages are shown, without ``candidates`` nothing of learning."""

    desk: ReviewDesk
    texts: DocumentStore
    login: Login
    settings: Settings
    promise: Promise | None = None
    originals: Originals | None = None
    candidates: Candidates | None = None

    def __post_init__(self) -> None:
        self.entrance = Entrance(self.login, self.desk.leases)
        self.views = Views(self.desk, self.texts, self.entrance, self.originals)

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/", self.home),
            *self.entrance.routes(),
            Route("/review", self.review),
            Route("/queue", self.queue),
            Route("/cases/{case_id}", self.show),
            Route("/cases/{case_id}/document", self.document),
            Route("/cases/{case_id}/pages/{page:int}.png", self.page),
            Route("/cases/{case_id}/decision", self.decide, methods=["POST"]),
            Route("/cases/{case_id}/lease", self.renew, methods=["POST"]),
            Route("/reviews/{review_id}/undo", self.undo, methods=["POST"]),
            Route("/decisions", self.decisions),
            Route("/measures", self.show_measures),
            Route("/agreement", self.agreement),
            Route("/learning", self.learning),
            Route("/learning/{run}", self.promote, methods=["POST"]),
            Route("/help", self.help),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    async def home(self, _request: Request) -> Response:
        return RedirectResponse("/review", 303)

    async def refuse(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
        session = self.entrance.session(request)
        frame = self.views.frame(session) if session and session.reviewer else {}
        routed = error.status_code == 404 and error.detail == HTTPStatus(404).phrase
        message = "There is no page at this address." if routed else error.detail
        context = frame | {"message": message, "query": ""}
        return render("notice.html", context, error.status_code)

    @allowed("reader")
    async def review(self, request: Request, session: Session) -> Response:
        """The next case of the filter. Readers get the list: an open case is closed to others."""
        wanted = CaseFilter.parse(request.query_params)
        if not session.may("reviewer"):
            return RedirectResponse(f"/queue{query_string(wanted)}", 303)
        if wanted.pool == "document":
            await self.desk.bring(self.desk.store.cases(wanted, session.person, LISTED_CASES))
        case = await self.desk.next_case(session, wanted)
        if case is None:
            return render("empty.html", self.views.queue_frame(request, session, wanted))
        return await self.views.case(request, session, case, wanted)

    @allowed("reader")
    async def show(self, request: Request, session: Session) -> Response:
        wanted = CaseFilter.parse(request.query_params)
        wanted_case = request.path_params["case_id"]
        await self.desk.bring([wanted_case])
        try:
            case, mine = self.desk.look_at(wanted_case), False
            if session.may("reviewer"):
                case, mine = await self.desk.open_case(session, wanted_case)
        except CaseGone as error:
            return self.views.notice(session, wanted, error)
        return await self.views.case(request, session, case, wanted, mine=mine)

    @allowed("reader")
    async def queue(self, request: Request, session: Session) -> Response:
        wanted = CaseFilter.parse(request.query_params)
        found = self.desk.store.cases(wanted, session.person, LISTED_CASES)
        await self.desk.bring(found)
        cases = [case for case_id in found if (case := self.desk.store.case(case_id))]
        leases = await self.desk.leases.leased()
        context = {"cases": cases, "leases": leases, "claim": claim, "session": session}
        return render("queue.html", self.views.queue_frame(request, session, wanted) | context)

    @allowed("reader")
    async def document(self, request: Request, session: Session) -> Response:
        case = self.desk.store.case(request.path_params["case_id"])
        found = await document_text(self.texts, case.verdict) if case else None
        if not found or not found.text:
            raise HTTPException(404, found.problem if found else "There is no such case.")
        return PlainTextResponse(found.text)

    @allowed("reader")
    async def page(self, request: Request, _session: Session) -> Response:
        case = self.desk.store.case(request.path_params["case_id"])
        if case is None or self.originals is None:
            raise HTTPException(404, "There is no such page.")
        try:
            picture = await self.originals.picture(case.verdict, request.path_params["page"])
        except NoPicture as error:
            raise HTTPException(404, str(error)) from None
        return Response(picture, media_type="image/png")

    @allowed("reviewer")
    async def decide(self, request: Request, session: Session) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        wanted = CaseFilter.parse(form)
        case = self.desk.store.case(request.path_params["case_id"])
        pressed = read_decision(form)
        if case is None or pressed is None:
            return self.views.notice(session, wanted, CaseGone("No such case or decision."))
        try:
            review = await self.desk.decide(session, _answer(case, *pressed, form))
        except (BadCorrection, NotSaved) as error:
            status = 503 if isinstance(error, NotSaved) else 422
            return await self.views.case(
                request, session, case, wanted, alert=str(error), typed=form, status=status
            )
        except DeskError as error:
            return self.views.notice(session, wanted, error)
        return RedirectResponse(f"/review{query_string(wanted, saved=review.id)}", 303)

    @allowed("reviewer")
    async def renew(self, request: Request, session: Session) -> Response:
        """Keep the case open: somebody is still reading."""
        wanted = request.path_params["case_id"]
        lease = await self.desk.leases.on(wanted)
        own = lease is not None and lease.holder == session.id
        taken = own and await self.desk.leases.take(wanted, session.id, session.reviewer)
        return Response(status_code=204 if taken else 409)

    @allowed("reviewer")
    async def undo(self, request: Request, session: Session) -> Response:
        wanted = CaseFilter.parse({name: str(v) for name, v in (await request.form()).items()})
        try:
            undone = await self.desk.undo(session, request.path_params["review_id"])
        except DeskError as error:
            return self.views.notice(session, wanted, error)
        case = self.desk.store.add_review(undone)
        return RedirectResponse(f"/cases/{case}{query_string(wanted, undone='1')}", 303)

    @allowed("reader")
    async def decisions(self, _request: Request, session: Session) -> Response:
        made = self.desk.store.reviews_by(session.person, LISTED_DECISIONS)
        cases = {case_id(review.verdict) for review in made}
        on_them = [review for case in cases for review in self.desk.store.reviews_of(case)]
        undone = {review.supersedes for review in on_them if review.decision == "undone"}
        refusal = self.desk.refusal
        context = {"reviews": made, "undone": undone, "claim": claim, "refusal": refusal}
        return render("decisions.html", self.views.frame(session) | context)

    @allowed("reader")
    async def learning(self, _request: Request, session: Session) -> Response:
        return await self._learning(session)

    @allowed("lead")
    async def promote(self, request: Request, session: Session) -> Response:
        form = await request.form()
        run = str(request.path_params["run"])
        if self.candidates is None:
            raise HTTPException(404, "Nothing learns here.")
        promotes = form.get("answer") == "promote"
        answer = self.candidates.promote if promotes else self.candidates.refuse
        try:
            await answer(run, session.signature)
        except (OperatorError, PublishFailed) as error:
            return await self._learning(session, alert=str(error), status=409)
        return RedirectResponse("/learning", 303)

    async def _learning(self, session: Session, alert: str = "", status: int = 200) -> Response:
        runs, wanted = None, list[str]()
        if self.candidates is not None:
            runs = await self.candidates.runs()
            bounds = self.settings.learn_held, self.settings.learn_min_labels
            wanted = measures.labels_wanted(self.desk.store, *bounds)
        context = {"alert": alert, "wanted": wanted, **learning_page(runs)}
        return render("learning.html", self.views.frame(session) | context, status)

    @allowed("reader")
    async def show_measures(self, _request: Request, session: Session) -> Response:
        store = self.desk.store
        extractors = measures.extractor_scores(store)
        context = {
            "leakage": measures.leakage(store),
            "risks": self.promise.risks() if self.promise else [],
            "accepted": sum(row.accepted for row in extractors),
            "open": measures.open_cases(store),
            "extractors": extractors,
            "proposals": store.proposals(LISTED_DECISIONS),
        }
        return render("measures.html", self.views.frame(session) | context)

    @allowed("lead")
    async def agreement(self, _request: Request, session: Session) -> Response:
        found = measures.agreements(self.desk.store)
        context = {"agreements": found, "share": self.settings.console_double_share}
        return render("agreement.html", self.views.frame(session) | context)

    @allowed("reader")
    async def help(self, _request: Request, session: Session) -> Response:
        context = {"reasons": sorted(REASONS.items()), "skipped": POOLS["skipped"]}
        return render("help.html", self.views.frame(session) | context)


def _answer(
    case: Case, decision: ReviewDecision, reason: DecisionReason | None, form: Mapping[str, str]
) -> Answer:
    value: Json = None
    if decision == "corrected":
        typed = {name: form[name] for name in form if name.startswith(("value", "field"))}
        value = read_correction(case.verdict.value, typed)
    return Answer(
        case.id,
        decision,
        value,
        form.get("seen", ""),
        _seconds(form.get("opened", "")),
        reason,
        read_comment(form),
        read_description(form, described(case)),
    )


def _seconds(text: str) -> float:
    """When the page was shown; a form that does not say it took no time."""
    try:
        seconds = float(text)
    except ValueError:
        return time.time()
    return seconds if 0 <= seconds <= time.time() else time.time()
