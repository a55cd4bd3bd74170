"""Login, logout, and who sent a request."""

import contextlib
import re
from dataclasses import replace

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ..leases import Leases, LeasesAway
from ..login.modes import Login, ProxyLogin, TokenLogin
from ..login.person import LoginRefused, Person
from ..session import (
    ATTEMPT_SECONDS,
    SESSION_SECONDS,
    GuessLimit,
    LoginAttempt,
    Session,
    Sessions,
    client_key,
    reviewer_name,
)
from .guard import peer
from .templating import render

log = structlog.get_logger(__name__)

COOKIE = "safepassage_console"
ATTEMPT_COOKIE = "safepassage_console_login"
CALLBACK = "/login/callback"

_OUR_PATH = re.compile(r"/(?!/)[\w/?=&%.+-]*")


class Entrance:
    """Handlers for everybody; the rest of the console is for who came in here."""

    def __init__(self, login: Login, leases: Leases) -> None:
        self._login = login
        self._way = login.way
        self._sessions = Sessions(login.secret)
        self._leases = leases
        self._guesses = GuessLimit()
        self._behind_tls = login.behind_tls

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/login", self.login_form),
            Route("/login", self.login, methods=["POST"]),
            Route("/login/start", self.start),
            Route(CALLBACK, self.callback),
            Route("/logout", self.logout, methods=["POST"]),
        ]

    def session(self, request: Request) -> Session | None:
        """The session of a request's cookie, as its person is now: None once that is revoked, or
        where the proxy names somebody else."""
        session = self._sessions.open(request.cookies.get(COOKIE, ""))
        if session is None or session.login is None:
            return None if session and session.reviewer else session
        if session.login.way != self._way.way or self._login.revocations.revoked(session.login):
            return None
        if isinstance(self._way, TokenLogin):
            return replace(session, role=self._way.role)
        if isinstance(self._way, ProxyLogin):
            try:
                person = self._way.person(peer(request), request.headers)
            except LoginRefused:
                return None
            return replace(session, role=person.role) if person.login == session.login else None
        return session

    def csrf(self, session: Session) -> str:
        return self._sessions.csrf(session)

    async def is_ours(self, request: Request, session: Session) -> bool:
        form = await request.form()
        return self._sessions.csrf_matches(session, str(form.get("csrf", "")))

    async def login_form(self, request: Request) -> Response:
        await self._leave(request)
        return self._page(request, "")

    async def login(self, request: Request) -> Response:
        if not isinstance(self._way, TokenLogin):
            return self._page(request, "There is no token here.", 403)
        session, form = self.session(request), await request.form()
        if session is None or not await self.is_ours(request, session):
            return self._page(request, "That page was too old. Please try again.", 403)
        if refusal := self._refuse_token(request, self._way, str(form.get("token", ""))):
            return refusal
        name = reviewer_name(str(form.get("reviewer", "")))
        if name is None:
            return self._page(request, "Give a name of up to 60 characters.", 422)
        try:
            session = self._admitted(self._way.person(name))
        except LoginRefused as refusal_of_person:
            return self._page(request, str(refusal_of_person), 403)
        response = RedirectResponse(_ours(str(form.get("next", ""))), 303)
        return self._with_cookie(response, request, session)

    async def start(self, request: Request) -> Response:
        """To the identity provider; behind a proxy, straight in."""
        await self._leave(request)
        target = _ours(request.query_params.get("next", ""))
        try:
            if isinstance(self._way, TokenLogin):
                return RedirectResponse("/login", 303)
            if isinstance(self._way, ProxyLogin):
                session = self._admitted(self._way.person(peer(request), request.headers))
                return self._with_cookie(RedirectResponse(target, 303), request, session)
            attempt = self._sessions.attempt(target)
            response = RedirectResponse(await self._way.address(attempt), 303)
        except LoginRefused as refusal:
            return self._page(request, str(refusal), 403)
        return self._with_cookie(response, request, attempt)

    async def callback(self, request: Request) -> Response:
        if isinstance(self._way, TokenLogin | ProxyLogin):
            return RedirectResponse("/login", 303)
        attempt = self._sessions.open_attempt(request.cookies.get(ATTEMPT_COOKIE, ""))
        given = request.query_params
        states = given.getlist("state")
        if attempt is None or states != [attempt.state]:
            return self._page(request, "That login was not begun here. Please try again.", 403)
        if given.get("iss", self._way.issuer) != self._way.issuer or not given.get("code"):
            return self._page(request, "The identity provider refused the login.", 403)
        try:
            session = self._admitted(await self._way.person(attempt, given["code"]))
        except LoginRefused as refusal:
            return self._page(request, str(refusal), 403)
        # A page and no redirect: a browser that came from another site would not send the session's
        # strict cookie along.
        response = render("came_in.html", {"target": attempt.target})
        response.delete_cookie(ATTEMPT_COOKIE, path=CALLBACK, httponly=True, samesite="lax")
        return self._with_cookie(response, request, session)

    async def logout(self, request: Request) -> Response:
        session = self.session(request)
        if session is None or not await self.is_ours(request, session):
            raise foreign_form()
        await self._leave(request)
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return response

    async def _leave(self, request: Request) -> None:
        """Free the case of the session that this browser had, which gets another."""
        if session := self._sessions.open(request.cookies.get(COOKIE, "")):
            with contextlib.suppress(LeasesAway):  # the lease runs out by itself
                await self._leases.release(session.id)

    def _admitted(self, person: Person) -> Session:
        if self._login.revocations.revoked(person.login):
            raise LoginRefused("You may no longer log in here.")
        log.info("logged_in", way=person.login.way, role=person.role)
        return self._sessions.new(person.reviewer, person.role, person.login)

    def _refuse_token(self, request: Request, way: TokenLogin, given: str) -> Response | None:
        address = client_key(request.client.host if request.client else "")
        if self._guesses.exceeded(address):
            return self._page(request, "Too many tries. Wait a minute.", 429)
        if not way.matches(given):
            self._guesses.failed(address)
            return self._page(request, "This is not the token.", 403)
        return None

    def _page(self, request: Request, alert: str, status: int = 200) -> Response:
        session = self._sessions.new()
        target = request.query_params.get("next", "")
        context = {
            "csrf": self.csrf(session),
            "alert": alert,
            "next": target if _OUR_PATH.fullmatch(target) else "",
            "by_token": isinstance(self._way, TokenLogin),
        }
        return self._with_cookie(render("login.html", context, status), request, session)

    def _with_cookie(
        self, response: Response, request: Request, sealed: Session | LoginAttempt
    ) -> Response:
        elsewhere = isinstance(sealed, LoginAttempt)
        response.set_cookie(
            ATTEMPT_COOKIE if elsewhere else COOKIE,
            self._sessions.seal(sealed),
            max_age=ATTEMPT_SECONDS if elsewhere else SESSION_SECONDS,
            path=CALLBACK if elsewhere else "/",
            httponly=True,
            # Lax: the provider sends the browser back from another site.
            samesite="lax" if elsewhere else "strict",
            secure=self._behind_tls or request.url.scheme == "https",
        )
        return response


def foreign_form() -> HTTPException:
    return HTTPException(403, "This form is not from a page of this session.")


def login_path(request: Request) -> str:
    """Where a stranger is sent; a link to a case is kept."""
    path = request.url.path
    keep = request.method == "GET" and path.startswith("/cases/") and _OUR_PATH.fullmatch(path)
    return f"/login?next={path}" if keep else "/login"


def _ours(target: str) -> str:
    return target if _OUR_PATH.fullmatch(target) else "/review"
