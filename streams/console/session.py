"""Who is asking: a signed cookie, a CSRF token, the token of all, and patience with guessers.

Sessions are stateless. Their key is derived from a secret, the console's token or that of another
login, so that a session outlives a restart where it is configured, and changing it ends all of
them.
"""

import base64
import hashlib
import hmac
import ipaddress
import secrets
import time
import unicodedata
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from pydantic import TypeAdapter

from safepassage.schemas import ReviewerLogin
from safepassage.schemas.review import person

from ..settings import Role

ATTEMPT_SECONDS = 600
MAX_SIGNATURE = 200
SESSION_SECONDS = 12 * 3600
MAX_NAME_CHARACTERS = 60
_GUESSES_PER_MINUTE = 10
_MAX_CLIENTS = 1_000
_IPV6_CLIENT_BITS = 64


@dataclass(frozen=True, slots=True)
class Session:
    """A browser. ``reviewer`` is "" until it logged in. ``expires`` is in seconds since the
    epoch. ``login`` says how the reviewer is known."""

    id: str
    reviewer: str
    expires: int
    role: Role = "reader"
    login: ReviewerLogin | None = None

    @property
    def person(self) -> str:
        """Whose decisions are this session's (see `Review.person`)."""
        return person(self.reviewer, self.login)

    @property
    def signature(self) -> str:
        """The name with what proves it, for records that keep one text."""
        if self.login is None or not self.login.proven:
            return self.reviewer
        return f"{self.reviewer} ({self.login.way}: {self.login.subject})"[:MAX_SIGNATURE]

    def may(self, role: Role) -> bool:
        ranks: tuple[Role, ...] = get_args(Role)
        return bool(self.reviewer) and ranks.index(self.role) >= ranks.index(role)


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A login that goes on at an identity provider. ``state`` binds the answer to this browser,
    ``nonce`` the ID token to this attempt, ``verifier`` the code to us (PKCE). ``target`` is a path
    of ours, ``expires`` in seconds since the epoch."""

    state: str
    nonce: str
    verifier: str
    target: str
    expires: int


_Sealed = TypeVar("_Sealed", Session, LoginAttempt)
_SHAPES: dict[type, TypeAdapter[Any]] = {
    kind: TypeAdapter(kind) for kind in (Session, LoginAttempt)
}


class Sessions:
    """Opens and seals cookies. One opens to None if we did not seal it, or its time is over."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._key = hashlib.sha256(b"safepassage console session\0" + secret.encode()).digest()
        self._clock = clock

    def new(
        self, reviewer: str = "", role: Role = "reader", login: ReviewerLogin | None = None
    ) -> Session:
        """A new session with a fresh id, so that none can be planted before the login."""
        expires = int(self._clock()) + SESSION_SECONDS
        return Session(secrets.token_hex(16), reviewer, expires, role, login)

    def seal(self, sealed: Session | LoginAttempt) -> str:
        kind = type(sealed)
        payload = base64.urlsafe_b64encode(_SHAPES[kind].dump_json(sealed)).decode()
        return f"{payload}.{self._sign(kind.__name__, payload)}"

    def open(self, cookie: str) -> Session | None:
        return self._opened(cookie, Session)

    def open_attempt(self, cookie: str) -> LoginAttempt | None:
        return self._opened(cookie, LoginAttempt)

    def attempt(self, target: str) -> LoginAttempt:
        """A login that begins now, with secrets of its own, and leads to ``target``."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        expires = int(self._clock()) + ATTEMPT_SECONDS
        return LoginAttempt(state, nonce, verifier, target, expires)

    def csrf(self, session: Session) -> str:
        return self._sign("csrf", session.id)

    def csrf_matches(self, session: Session, given: str) -> bool:
        """Whether a form came from a page of ours, shown to this session."""
        return hmac.compare_digest(given.encode(), self.csrf(session).encode())

    def _opened(self, cookie: str, kind: type[_Sealed]) -> _Sealed | None:
        payload, _, signature = cookie.partition(".")
        expected = self._sign(kind.__name__, payload)
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            return None
        try:
            opened: _Sealed = _SHAPES[kind].validate_json(base64.urlsafe_b64decode(payload))
        except ValueError:
            return None  # sealed by another version of us
        return opened if opened.expires > self._clock() else None

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


class GuessLimit:
    """Refuses logins of an address that failed too often within a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def exceeded(self, address: str) -> bool:
        failures = self._failures.get(address, deque())
        while failures and failures[0] <= self._clock() - 60:
            failures.popleft()
        return len(failures) >= _GUESSES_PER_MINUTE

    def failed(self, address: str) -> None:
        self._failures.setdefault(address, deque(maxlen=_GUESSES_PER_MINUTE)).append(self._clock())
        self._failures.move_to_end(address)
        if len(self._failures) > _MAX_CLIENTS:
            self._failures.popitem(last=False)


def client_key(host: str) -> str:
    """Under what the tries of a client are counted: its address, of IPv6 the network of 64 bits,
    for so many addresses has everyone with one. All that are no address count together: what a
    proxy passes on may be any text, of any length."""
    # A scope ("%eth0") is free text as well.
    address, _, _ = host.partition("%")
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _IPV6_CLIENT_BITS), strict=False))


def reviewer_name(typed: str) -> str | None:
    """One spelling of a name for one person; None if there is nothing to read, or too much."""
    name = " ".join(unicodedata.normalize("NFC", typed).split())
    if not name or len(name) > MAX_NAME_CHARACTERS:
        return None
    return name if all(unicodedata.category(sign)[0] != "C" for sign in name) else None
