"""Login, logout, and who sent a request."""

import re

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from safepassage.streams.console.index.case_filter import Leases
from safepassage.streams.console.session import (
    SESSION_SECONDS,
    GuessLimit,
    Session,
    Sessions,
    client_key,
    reviewer_name,
)

from .templating import render

COOKIE = "safepassage_console"

_OUR_PATH = re.compile(r"/(?!/)[\w/?=&%.+-]*")


class Entrance:
    """Handlers for everybody; the rest of the console is for who came in here."""

    def __init__(self, sessions: Sessions, leases: Leases) -> None:
        self._sessions = sessions
        self._leases = leases
        self._guesses = GuessLimit()

    def routes(self) -> list[BaseRoute]:
        """The paths open to everybody."""
        return [
            Route("/login", self.login_form),
            Route("/login", self.login, methods=["POST"]),
            Route("/logout", self.logout, methods=["POST"]),
        ]

    def session(self, request: Request) -> Session | None:
        """The session of a request's cookie."""
        return self._sessions.open(request.cookies.get(COOKIE, ""))

    def csrf(self, session: Session) -> str:
        """The token that every form of ``session`` carries."""
        return self._sessions.csrf(session)

    async def is_ours(self, request: Request, session: Session) -> bool:
        """Whether the request's form is from a page of this session."""
        form = await request.form()
        return self._sessions.csrf_matches(session, str(form.get("csrf", "")))

    async def login_form(self, request: Request) -> Response:
        return self._page(request, "")

    async def login(self, request: Request) -> Response:
        """Name and token in; a session of its own and the way to the queue out."""
        session, form = self.session(request), await request.form()
        if session is None or not await self.is_ours(request, session):
            return self._page(request, "That page was too old. Please try again.", 403)
        if refusal := self._refuse_token(request, str(form.get("token", ""))):
            return refusal
        name = reviewer_name(str(form.get("reviewer", "")))
        if name is None:
            return self._page(request, "Give a name of up to 60 characters.", 422)
        target = str(form.get("next", ""))
        response = RedirectResponse(target if _OUR_PATH.fullmatch(target) else "/review", 303)
        return self._with_cookie(response, request, self._sessions.new(name))

    async def logout(self, request: Request) -> Response:
        """Forget the cookie, and free the case that was open."""
        session = self.session(request)
        if session is None or not await self.is_ours(request, session):
            return foreign_form()
        self._leases.release(session.id)
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return response

    def _refuse_token(self, request: Request, given: str) -> Response | None:
        address = client_key(request.client.host if request.client else "")
        if self._guesses.exceeded(address):
            return self._page(request, "Too many tries. Wait a minute.", 429)
        if not self._sessions.token_matches(given):
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
        }
        return self._with_cookie(render("login.html", context, status), request, session)

    def _with_cookie(self, response: Response, request: Request, session: Session) -> Response:
        response.set_cookie(
            COOKIE,
            self._sessions.seal(session),
            max_age=SESSION_SECONDS,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response


def foreign_form() -> Response:
    """The answer to a form that is not from a page of its session."""
    return PlainTextResponse("This form is not from a page of this session.", 403)


def login_path(request: Request) -> str:
    """Where a stranger is sent; a link to a case is kept."""
    path = request.url.path
    keep = request.method == "GET" and path.startswith("/cases/") and _OUR_PATH.fullmatch(path)
    return f"/login?next={path}" if keep else "/login"
