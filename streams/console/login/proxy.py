"""Login by a header that a trusted proxy sets."""

import hmac
import ipaddress
import unicodedata

from starlette.datastructures import Headers

from safepassage.schemas import ReviewerLogin
from safepassage.schemas.review import MAX_SUBJECT
from safepassage.settings import split_names

from ...login_settings import LoginSettings
from .person import LoginRefused, Person, display_name, role_of


class ProxyLogin:
    """Believes the user header where it comes from a configured proxy that knows the secret. A
    proxy on this machine needs none, unless one is set."""

    way = "proxy"

    def __init__(self, settings: LoginSettings) -> None:
        self._settings = settings
        secret = settings.console_secret
        self._secret = secret.get_secret_value() if secret else ""
        self._user_header = settings.console_user_header or ""

    async def check(self) -> None:
        """Nothing more can be wrong that is known before the first request."""

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
