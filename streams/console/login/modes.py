"""The one way of login that is configured: a shared token, the header of a trusted proxy, or OpenID
Connect; and what to do where the settings say none clearly."""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import unicodedata
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import structlog
from starlette.datastructures import Headers

from safepassage.extras import missing_extra
from safepassage.schemas import ReviewerLogin
from safepassage.schemas.review import MAX_SUBJECT
from safepassage.settings import split_names

from ...runtime.errors import OperatorError
from ...settings import Role, Settings
from .person import LoginRefused, Person, display_name, role_of

if TYPE_CHECKING:
    from .oidc import OidcLogin


log = structlog.get_logger(__name__)


class Revocations:
    """The file's subjects, one a line, "#" begins a remark. It is read for each request, so that a
    line counts from the next one on. While it cannot be read everybody is revoked: it is not known
    who is not."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._subjects: frozenset[str] = frozenset()

    def check(self) -> str | None:
        """Read the file. Returns why it cannot be read; None where it can, or none is named."""
        try:
            lines = self._path.read_text("utf-8").splitlines() if self._path else ()
        except OSError as error:
            return os.strerror(error.errno or 0)
        except ValueError:
            return "no UTF-8"
        self._subjects = frozenset(line.partition("#")[0].strip().casefold() for line in lines)
        return None

    def revoked(self, login: ReviewerLogin) -> bool:
        """Whether a person's sessions are over; without case: a proxy may spell it otherwise."""
        if problem := self.check():
            log.error("revocations_unreadable", path=str(self._path), problem=problem)
            return True
        return login.subject.casefold() in self._subjects


TOKEN_BYTES = 24
_PREFIX = "SAFEPASSAGE_CONSOLE_"
_OF_ONE_MODE = {
    "token": ("console_token",),
    "oidc": (
        "console_oidc_issuer",
        "console_oidc_client_id",
        "console_oidc_client_secret",
        "console_url",
    ),
    "proxy": ("console_user_header", "console_groups_header", "console_secret"),
}
_WANTED = {
    "token": (),
    "oidc": ("console_oidc_issuer", "console_oidc_client_id", "console_url"),
    "proxy": ("console_user_header", "console_proxies"),
}


class TokenLogin:
    """Login by a token that all share: names are only claimed."""

    way = "shared_token"

    def __init__(self, token: str, role: Role) -> None:
        self._token = token
        self.role = role

    async def check(self) -> None:
        """Nothing more can be wrong."""

    def matches(self, given: str) -> bool:
        return hmac.compare_digest(given.strip().encode(), self._token.encode())

    def person(self, name: str) -> Person:
        return Person(name, ReviewerLogin(way="shared_token", subject=name), self.role)


class ProxyLogin:
    """Believes the user header where it comes from a configured proxy that knows the secret. A
    proxy on this machine needs none, unless one is set."""

    way = "proxy"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        secret = settings.console_secret
        self._secret = secret.get_secret_value() if secret else ""
        self._user_header = settings.console_user_header or ""

    async def check(self) -> None:
        """Nothing more can be wrong before the first request."""

    def person(self, peer: str, headers: Headers) -> Person:
        """Who the proxy says it is. ``peer`` is the address that connects, and no header's. Raises
        `LoginRefused` where the request is not from the proxy, or names nobody, or several people.
        """
        self._refuse_stranger(peer, headers)
        named = [text.strip() for text in headers.getlist(self._user_header)]
        if len(named) != 1 or not 0 < len(named[0]) <= MAX_SUBJECT:
            raise LoginRefused("The proxy in front of the console names nobody. Tell its operator.")
        given = _decoded(named[0])
        # A directory that takes "ANA" for "ana" must not make two people of one.
        subject = unicodedata.normalize("NFKC", given).casefold()
        groups: list[str] = []
        if header := self._settings.console_groups_header:
            for text in headers.getlist(header):
                groups += split_names(_decoded(text))  # type: ignore[arg-type]
        return Person(
            reviewer=display_name(given, subject),
            login=ReviewerLogin(way="proxy", subject=subject),
            role=role_of(groups, self._settings),
        )

    def _refuse_stranger(self, peer: str, headers: Headers) -> None:
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            raise LoginRefused("This address is no proxy of the console.") from None
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        if not any(address in network for network in self._settings.console_proxies):
            raise LoginRefused("This address is no proxy of the console. Come through the proxy.")
        given = headers.getlist(self._settings.console_secret_header)
        if self._secret:
            known = len(given) == 1 and hmac.compare_digest(
                given[0].encode(), self._secret.encode()
            )
        else:
            known = address.is_loopback
        if not known:
            raise LoginRefused("The proxy does not know the console's secret. Tell its operator.")


def _decoded(header: str) -> str:
    """Starlette reads headers as latin-1; proxies write UTF-8."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


@dataclass(frozen=True, slots=True)
class Login:
    """How people come in here. ``secret`` seals the sessions; ``shown`` is a token that was made
    for this start. Where it is ``behind_tls`` browsers come by https, regardless of what reaches
    this process."""

    way: TokenLogin | ProxyLogin | OidcLogin
    secret: str = field(repr=False)
    revocations: Revocations
    shown: str | None = field(default=None, repr=False)
    behind_tls: bool = False


def login_of(settings: Settings) -> Login:
    mode = settings.console_login
    _refuse_contradictions(settings)
    revocations = Revocations(settings.console_revoked)
    if problem := revocations.check():
        raise OperatorError(
            f"{_PREFIX}REVOKED={settings.console_revoked} cannot be read: {problem}; "
            "make the file, which may be empty, or unset it"
        )
    if mode == "token":
        given = settings.console_token
        token = given.get_secret_value() if given else secrets.token_urlsafe(TOKEN_BYTES)
        way = TokenLogin(token, settings.console_role)
        return Login(way, token, revocations, None if given else token)
    made = secrets.token_urlsafe(TOKEN_BYTES)
    if mode == "proxy":
        known = settings.console_secret
        return Login(ProxyLogin(settings), known.get_secret_value() if known else made, revocations)
    client_secret = settings.console_oidc_client_secret
    key = client_secret.get_secret_value() if client_secret else made
    behind_tls = (settings.console_url or "").startswith("https:")
    return Login(_oidc().OidcLogin(settings), key, revocations, behind_tls=behind_tls)


def _refuse_contradictions(settings: Settings) -> None:
    mode = settings.console_login
    if missing := [name for name in _WANTED[mode] if not getattr(settings, name)]:
        raise OperatorError(f"{_PREFIX}LOGIN={mode} also needs {_variables(missing)}")
    for other, names in _OF_ONE_MODE.items():
        if other != mode and (extra := [name for name in names if getattr(settings, name)]):
            raise OperatorError(
                f"{_variables(extra)} belong to another way of login than {_PREFIX}LOGIN={mode}; "
                f"unset them, or set {_PREFIX}LOGIN={other}"
            )
    groups = ("console_reader_groups", "console_reviewer_groups", "console_lead_groups")
    if mode == "token":
        if named := [name for name in groups if getattr(settings, name)]:
            raise OperatorError(
                f"{_variables(named)} need a login that names groups: set {_PREFIX}LOGIN to oidc "
                f"or proxy, or {_PREFIX}ROLE for all who share the token"
            )
        if settings.console_approvals > 1:
            raise OperatorError(
                f"{_PREFIX}APPROVALS needs names that are proven; with the shared token all type "
                f"what they like; set {_PREFIX}LOGIN to oidc or proxy"
            )
        return
    if "console_role" in settings.model_fields_set:
        raise OperatorError(
            f"{_PREFIX}ROLE is for the shared token; with {_PREFIX}LOGIN={mode} groups give roles"
        )
    if not any(getattr(settings, name) for name in groups[1:]):
        raise OperatorError(
            f"with {_PREFIX}LOGIN={mode} nobody could decide; name the groups that may: "
            f"{_PREFIX}REVIEWER_GROUPS or {_PREFIX}LEAD_GROUPS"
        )
    if mode == "proxy":
        _refuse_open_proxy(settings)
        return
    is_private = _oidc().is_private
    for name in ("console_oidc_issuer", "console_url"):
        if not is_private(getattr(settings, name)):
            raise OperatorError(f"{_variables([name])} has to be an https address")
    if "openid" not in settings.console_oidc_scopes.split():
        raise OperatorError(f"{_PREFIX}OIDC_SCOPES has to hold openid")


def _refuse_open_proxy(settings: Settings) -> None:
    if not settings.console_groups_header:
        raise OperatorError(
            f"{_PREFIX}LOGIN=proxy also needs {_PREFIX}GROUPS_HEADER, for the roles"
        )
    here = all(network.is_loopback for network in settings.console_proxies)
    if not here and not settings.console_secret:
        raise OperatorError(
            f"{_PREFIX}PROXIES names other machines; set {_PREFIX}SECRET, and let the proxy send "
            f"it as {settings.console_secret_header}"
        )


def _oidc() -> ModuleType:
    try:
        return import_module(".oidc", __package__)
    except ModuleNotFoundError as error:
        raise OperatorError(str(missing_extra(error, "oidc") or error)) from error


def _variables(names: list[str]) -> str:
    return " and ".join(f"SAFEPASSAGE_{name.upper()}" for name in names)
