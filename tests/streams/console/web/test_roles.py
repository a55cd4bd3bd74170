"""Every route says who it is for, and the server holds everybody to it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from safepassage.schemas.reviews_that_count import case_id
from safepassage.streams.console.login.modes import login_of
from safepassage.streams.console.web.app import Console as App
from safepassage.streams.console.web.app import console_app, required_role
from safepassage.streams.runtime.progress import Progress
from safepassage.streams.settings import Role, Settings
from safepassage.streams.topics import REVIEWS
from tests.streams.console.cases import verdict

from .test_app import TOKEN, Console, hidden, opened

ROLES: tuple[Role, ...] = get_args(Role)
EXPECTED: dict[tuple[str, str], Role | None] = {
    ("GET", "/"): None,
    ("GET", "/login"): None,
    ("POST", "/login"): None,
    ("GET", "/login/start"): None,
    ("GET", "/login/callback"): None,
    ("POST", "/logout"): None,
    ("GET", "/static"): None,
    ("GET", "/health"): None,
    ("GET", "/ready"): None,
    ("GET", "/metrics"): None,
    ("GET", "/review"): "reader",
    ("GET", "/queue"): "reader",
    ("GET", "/cases/{case_id}"): "reader",
    ("GET", "/cases/{case_id}/document"): "reader",
    ("GET", "/cases/{case_id}/pages/{page:int}.png"): "reader",
    ("POST", "/cases/{case_id}/decision"): "reviewer",
    ("POST", "/cases/{case_id}/lease"): "reviewer",
    ("POST", "/reviews/{review_id}/undo"): "reviewer",
    ("GET", "/decisions"): "reader",
    ("GET", "/measures"): "reader",
    ("GET", "/agreement"): "lead",
    ("GET", "/learning"): "reader",
    ("POST", "/learning/{run}"): "lead",
    ("GET", "/help"): "reader",
}
GUARDED = [key for key, role in EXPECTED.items() if role]


def routes(console: Console) -> list[BaseRoute]:
    """The routes of the very app that is served."""
    settings = Settings(console_token=TOKEN)
    texts: Any = console.texts
    served = App(console.desk, texts, login_of(settings), settings)
    made = console_app(served, Progress("review"))
    return list(made.routes)


def methods(route: BaseRoute) -> set[str]:
    if isinstance(route, Mount):
        return {"GET"}
    assert isinstance(route, Route)
    return set(route.methods or ()) - {"HEAD"}


def address(path: str, case: str) -> str:
    return re.sub(r"{[^}]*}", "0", path.replace("{case_id}", case))


@pytest.fixture
def console() -> Iterator[Console]:
    with opened(Console()) as made:
        yield made


def as_role(role: str, **changes: Any) -> Console:
    return Console(console_role=role, **changes)


def test_every_route_declares_the_role_that_is_written_here(console: Console) -> None:
    """A new route without a role, or without a line above, fails."""
    declared = {
        (method, route.path): required_role(route)  # type: ignore[attr-defined]
        for route in routes(console)
        for method in methods(route)
    }
    assert declared == EXPECTED


def test_a_console_with_a_route_without_a_role_does_not_start(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forgotten(_: object) -> Response:
        return Response("everything")

    before = App.routes
    monkeypatch.setattr(App, "routes", lambda self: [*before(self), Route("/all", forgotten)])
    with pytest.raises(LookupError, match="/all declares no role"):
        routes(console)


@pytest.mark.parametrize("role", ROLES)
def test_the_server_holds_everybody_to_the_role(role: Role) -> None:
    with opened(as_role(role)) as console:
        case = console.add(verdict(1), "On the day 1 the panel sat.")
        console.login()
        csrf = hidden(console.page("/help"), "csrf")
        for method, path in GUARDED:
            least = EXPECTED[method, path]
            assert least is not None
            url = address(path, case)
            sent = {"data": {"csrf": csrf, "decision": "nonsense"}} if method == "POST" else {}
            answer = console.browser._request(method, url, follow_redirects=False, **sent)
            allowed = ROLES.index(role) >= ROLES.index(least)
            assert (answer.status_code == 403) is not allowed, (role, method, path)
        assert console.publisher.published == []


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_without_a_login_no_role_helps(console: Console, method: str, path: str) -> None:
    url = address(path, "x")
    sent: dict[str, Any] = {"data": {"decision": "supports"}} if method == "POST" else {}
    answer = console.browser._request(method, url, follow_redirects=False, **sent)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login")


def test_a_reader_sees_a_case_and_takes_it_from_nobody() -> None:
    with opened(as_role("reader")) as console:
        case = console.add(verdict(1), "On the day 1 the panel sat.")
        console.login()
        assert console.browser.get("/review").url.path == "/queue"
        page = console.page(f"/cases/{case}")
        assert "You can read this case, not decide it" in page
        assert asyncio.run(console.desk.leases.on(case)) is None
        answer = console.decide(page, decision="supports")
        assert answer.status_code == 403
        assert console.publisher.published == []


def test_only_a_lead_takes_back_what_somebody_else_decided() -> None:
    for role, status in (("reviewer", 404), ("lead", 303)):
        with opened(as_role(role)) as console:
            console.add(verdict(1), "On the day 1 the panel sat.")
            console.login("Ana")
            console.decide(console.page(), decision="supports")
            (made,) = console.publisher.to(REVIEWS)
            console.login("Ben")
            csrf = hidden(console.page("/help"), "csrf")
            path = f"/reviews/{made.id}/undo"
            answer = console.browser.post(path, data={"csrf": csrf}, follow_redirects=False)
            assert answer.status_code == status
            stands = console.desk.store.case(case_id(made.verdict)).standing  # type: ignore[union-attr]
            assert (stands is None) is (role == "lead")
            if role == "lead":
                undo = console.publisher.to(REVIEWS)[-1]
                assert (undo.decision, undo.reviewer) == ("undone", "Ben")
                console.login("Ana")
                assert "taken back" in console.page("/decisions")


def test_the_navigation_shows_agreement_to_leads_alone() -> None:
    for role in ROLES:
        with opened(as_role(role)) as console:
            console.login()
            assert ('href="/agreement"' in console.page("/help")) is (role == "lead")
