"""Login by the header of a trusted proxy: from its address, with its secret, in no other way."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from safepassage.schemas import ReviewerLogin
from safepassage.streams.topics import REVIEWS
from tests.streams.console.cases import verdict
from tests.streams.console.web.test_app import Console, opened

PROXY, SECRET = "10.0.0.5", "what only the proxy knows"
ANA = {"X-User": "ana@example.org", "X-Groups": "staff, reviewers"}
KNOWN = ANA | {"X-SafePassage-Secret": SECRET}


def behind(address: str = PROXY, **changes: Any) -> Console:
    settings: dict[str, Any] = {
        "console_login": "proxy",
        "console_token": None,
        "console_user_header": "X-User",
        "console_groups_header": "X-Groups",
        "console_secret": SecretStr(SECRET),
        "console_reviewer_groups": "reviewers",
        "console_lead_groups": "leads",
    }
    return Console("10.0.0.5, 10.1.0.0/16", address, **settings | changes)


def log_in(console: Console, headers: Any) -> int:
    start = console.browser.get("/login/start", headers=headers, follow_redirects=False)
    return start.status_code


def status(console: Console, headers: Any, path: str = "/measures") -> int:
    return console.browser.get(path, headers=headers, follow_redirects=False).status_code


@pytest.mark.parametrize("address", [PROXY, "10.1.2.3", "::ffff:10.0.0.5"])
def test_the_proxy_names_the_reviewer_and_the_review_proves_it(address: str) -> None:
    with opened(behind(address)) as console:
        console.browser._client.headers.update(KNOWN)
        console.add(verdict(1), "On the day 1 the panel sat.")
        assert log_in(console, {}) == 303
        assert console.decide(console.page(), decision="supports").status_code == 303
        (review,) = console.publisher.to(REVIEWS)
        assert review.reviewer == "ana@example.org"
        assert review.login == ReviewerLogin(way="proxy", subject="ana@example.org")


REFUSED = {
    "no secret": ANA,
    "a wrong secret": KNOWN | {"X-SafePassage-Secret": "guessed"},
    "two secrets": [*KNOWN.items(), ("X-SafePassage-Secret", "guessed")],
    "no name": {name: value for name, value in KNOWN.items() if name != "X-User"},
    "an empty name": KNOWN | {"X-User": " "},
    "two names": [*KNOWN.items(), ("X-User", "ben@example.org")],
    "a name without end": KNOWN | {"X-User": "x" * 10_000},
}


@pytest.mark.parametrize("how", REFUSED)
def test_what_the_proxy_does_not_prove_lets_nobody_in(how: str) -> None:
    with opened(behind()) as console:
        assert log_in(console, REFUSED[how]) == 403
        assert status(console, REFUSED[how]) == 303


@pytest.mark.parametrize("address", ["10.0.0.6", "192.0.2.1", "127.0.0.1", "not an address", ""])
def test_another_address_is_no_proxy_whatever_it_knows_and_forwards(address: str) -> None:
    with opened(behind(address)) as console:
        for forwarded in ({}, {"X-Forwarded-For": PROXY}, {"X-Forwarded-For": "127.0.0.1"}):
            assert log_in(console, KNOWN | forwarded) == 403


def test_a_client_behind_the_proxy_is_who_the_proxy_says_wherever_it_is() -> None:
    with opened(behind()) as console:
        assert log_in(console, KNOWN | {"X-Forwarded-For": "192.0.2.1"}) == 303


def test_a_proxy_on_this_machine_needs_no_secret_and_one_elsewhere_does() -> None:
    here = {"console_secret": None, "console_proxies": "127.0.0.1"}
    with opened(behind("127.0.0.1", **here)) as console:
        assert log_in(console, ANA) == 303
    with opened(behind("127.0.0.1", console_proxies="127.0.0.1")) as console:
        assert log_in(console, ANA) == 403, "a secret that is set is asked for here too"


def test_a_session_without_the_proxy_is_none_and_that_of_another_person_neither() -> None:
    with opened(behind()) as console:
        assert log_in(console, KNOWN) == 303
        assert status(console, KNOWN) == 200
        assert status(console, {}) == 303
        assert status(console, KNOWN | {"X-User": "ben@example.org"}) == 303


def test_the_role_is_that_of_the_groups_of_each_request() -> None:
    with opened(behind()) as console:
        log_in(console, KNOWN)
        assert status(console, KNOWN, "/agreement") == 403
        assert status(console, KNOWN | {"X-Groups": "leads"}, "/agreement") == 200
        assert status(console, KNOWN | {"X-Groups": ""}, "/agreement") == 403
        assert status(console, KNOWN | {"X-Groups": ""}, "/measures") == 200


def test_one_person_in_two_spellings_is_one_person() -> None:
    made = []
    for name in ("ana@example.org", "ANA@example.org"):
        with opened(behind()) as console:
            console.browser._client.headers.update(KNOWN | {"X-User": name})
            console.add(verdict(1), "On the day 1 the panel sat.")
            log_in(console, {})
            console.decide(console.page(), decision="supports")
            made += console.publisher.to(REVIEWS)
    assert len({review.person for review in made}) == 1


def test_a_name_in_another_script_is_read_as_it_was_sent() -> None:
    with opened(behind()) as console:
        named = KNOWN | {"X-User": "Амелия".encode()}
        assert log_in(console, named) == 303
        page = console.browser.get("/measures", headers=named).text
        assert "Амелия" in page
