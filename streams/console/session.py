"""Who is asking: login by token, a signed cookie, a CSRF token, and patience with guessers.

Sessions are stateless. Their key is derived from the console's token, so that a session outlives
a restart where the token is configured, and changing the token ends all of them.
"""

import base64
import hashlib
import hmac
import ipaddress
import json
import secrets
import time
import unicodedata
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

SESSION_SECONDS = 12 * 3600
MAX_NAME_CHARACTERS = 60
_GUESSES_PER_MINUTE = 10
_MAX_CLIENTS = 1_000
_IPV6_CLIENT_BITS = 64


@dataclass(frozen=True, slots=True)
class Session:
    """A browser. ``reviewer`` is "" until it logged in. ``expires`` is in seconds since the
    epoch."""

    id: str
    reviewer: str
    expires: int


class Sessions:
    """Opens and seals session cookies."""

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        self._token = token
        self._key = hashlib.sha256(b"safepassage console session\0" + token.encode()).digest()
        self._clock = clock

    def token_matches(self, given: str) -> bool:
        """Whether ``given`` is the console's token, in constant time."""
        return hmac.compare_digest(given.strip().encode(), self._token.encode())

    def new(self, reviewer: str = "") -> Session:
        """A new session with a fresh id, so that none can be planted before the login."""
        return Session(secrets.token_hex(16), reviewer, int(self._clock()) + SESSION_SECONDS)

    def seal(self, session: Session) -> str:
        """The cookie of ``session``."""
        fields = json.dumps([session.id, session.reviewer, session.expires]).encode()
        payload = base64.urlsafe_b64encode(fields).decode()
        return f"{payload}.{self._sign('session', payload)}"

    def open(self, cookie: str) -> Session | None:
        """The session of a cookie; None if we did not seal it, or its time is over."""
        payload, _, signature = cookie.partition(".")
        expected = self._sign("session", payload)
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            return None
        session = Session(*json.loads(base64.urlsafe_b64decode(payload)))
        return session if session.expires > self._clock() else None

    def csrf(self, session: Session) -> str:
        """The token that every form of ``session`` carries."""
        return self._sign("csrf", session.id)

    def csrf_matches(self, session: Session, given: str) -> bool:
        """Whether a form came from a page of ours, shown to this session."""
        return hmac.compare_digest(given.encode(), self.csrf(session).encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


class GuessLimit:
    """Refuses logins of an address that failed too often within a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def exceeded(self, address: str) -> bool:
        """Whether ``address`` has to wait."""
        failures = self._failures.get(address, deque())
        while failures and failures[0] <= self._clock() - 60:
            failures.popleft()
        return len(failures) >= _GUESSES_PER_MINUTE

    def failed(self, address: str) -> None:
        """Note a wrong token."""
        self._failures.setdefault(address, deque(maxlen=_GUESSES_PER_MINUTE)).append(self._clock())
        self._failures.move_to_end(address)
        if len(self._failures) > _MAX_CLIENTS:
            self._failures.popitem(last=False)


def client_key(host: str) -> str:
    """Under what the tries of a client are counted: its address, of IPv6 the network of 64 bits,
    for so many addresses has whoever has one. All that are no address count together: what a
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
    """The name under which decisions are published: one spelling for one person. None if there
    is nothing to read in it, or too much."""
    name = " ".join(unicodedata.normalize("NFC", typed).split())
    if not name or len(name) > MAX_NAME_CHARACTERS:
        return None
    return name if all(unicodedata.category(sign)[0] != "C" for sign in name) else None
