"""Login by OpenID Connect: the authorization code flow with PKCE, a state and a nonce.

Authlib asks and joserfc checks signatures. What is checked of an ID token (OpenID Connect Core,
3.1.3.7): its signature by a key of the issuer, by an algorithm with a public key and no other; the
issuer, the audience and the authorized party, the times, and the nonce of this attempt.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import structlog
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from safepassage.schemas import ReviewerLogin
from safepassage.schemas.review import MAX_SUBJECT

from ...runtime.errors import OperatorError
from ...settings import Settings
from ..session import LoginAttempt
from .person import LoginRefused, Person, claim_at, display_name, groups_in, role_of

log = structlog.get_logger(__name__)

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""With a public key alone: with "none", or a MAC whose key a client knows, anybody could sign."""
LEEWAY_SECONDS = 60
PATIENCE_SECONDS = 10.0
CALLBACK = "/login/callback"
DISCOVERY = "/.well-known/openid-configuration"


class WrongProvider(Exception):
    """The provider's metadata are not those of the configured issuer. The message says why."""


class OidcLogin:
    """One identity provider."""

    way = "oidc"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._issuer = settings.console_oidc_issuer or ""
        self._metadata: dict[str, Any] | None = None
        self._keys: KeySet | None = None

    @property
    def issuer(self) -> str:
        return self._issuer

    async def check(self) -> None:
        """Ask the provider once, before people come. One that does not answer may do so later."""
        try:
            await self.discover()
        except WrongProvider as error:
            raise OperatorError(str(error)) from error
        except (httpx2.HTTPError, ValueError) as error:
            log.warning(
                "identity_provider_unreachable",
                issuer=self._issuer,
                error=type(error).__name__,
                detail="nobody can log in; is SAFEPASSAGE_CONSOLE_OIDC_ISSUER reachable?",
            )

    async def discover(self) -> Mapping[str, Any]:
        """The provider's metadata, asked for once. Raises `WrongProvider` where they are another
        issuer's, or lead to where nothing is encrypted; `httpx2.HTTPError` or `ValueError` where
        the provider cannot be asked, or answers nonsense."""
        if self._metadata is None:
            found = await self._get(self._issuer.rstrip("/") + DISCOVERY)
            if not isinstance(found, dict) or found.get("issuer") != self._issuer:
                raise WrongProvider(
                    f"{self._issuer}{DISCOVERY} names another issuer; set "
                    "SAFEPASSAGE_CONSOLE_OIDC_ISSUER to the text that it has there"
                )
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not is_private(str(found.get(name, ""))):
                    raise WrongProvider(f"{self._issuer}: its {name} is no https address")
            self._metadata = found
        return self._metadata

    async def address(self, attempt: LoginAttempt) -> str:
        """Where the browser logs in. Raises `LoginRefused` where the provider cannot be asked."""
        try:
            metadata = await self.discover()
        except (httpx2.HTTPError, ValueError, WrongProvider) as error:
            raise _refusal("provider", error) from None
        async with self._client() as client:
            url, _ = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(url)

    async def person(self, attempt: LoginAttempt, code: str) -> Person:
        """Who logged in, from the code that the browser brought back. Raises `LoginRefused` where
        the provider does not take the code, its ID token does not hold, or the person has no role
        here."""
        try:
            metadata = await self.discover()
            async with self._client() as client:
                tokens = await client.fetch_token(
                    metadata["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=attempt.verifier,
                )
            claims = await self._claims(tokens["id_token"], attempt.nonce)
        except (httpx2.HTTPError, OAuthError, WrongProvider) as error:
            raise _refusal("provider", error) from None
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise _refusal("id_token", error) from None
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT:
            raise LoginRefused("The identity provider names nobody.")
        settings = self._settings
        return Person(
            reviewer=display_name(claim_at(claims, settings.console_name_claim), subject),
            login=ReviewerLogin(way="oidc", subject=subject, issuer=self._issuer),
            role=role_of(groups_in(claim_at(claims, settings.console_groups_claim)), settings),
        )

    async def _claims(self, id_token: str, nonce: str) -> Mapping[str, object]:
        registry = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        try:
            token = jwt.decode(id_token, await self._key_set(), registry=registry)
        except InvalidKeyIdError:  # the provider took a new key
            token = jwt.decode(id_token, await self._key_set(again=True), registry=registry)
        client_id = self._settings.console_oidc_client_id
        claims: Mapping[str, object] = CodeIDToken(
            token.claims,
            token.header,
            {"iss": {"essential": True, "value": self._issuer}, "aud": {"value": client_id}},
            {"nonce": nonce, "client_id": client_id},
        )
        claims.validate(leeway=LEEWAY_SECONDS)  # type: ignore[attr-defined]
        return claims

    async def _key_set(self, *, again: bool = False) -> KeySet:
        if self._keys is None or again:
            found = await self._get((await self.discover())["jwks_uri"])
            self._keys = KeySet.import_key_set(found)
        return self._keys

    def _client(self) -> AsyncOAuth2Client:
        settings = self._settings
        secret = settings.console_oidc_client_secret
        methods = (self._metadata or {}).get("token_endpoint_auth_methods_supported", ())
        method = "client_secret_basic"
        if "client_secret_post" in methods and method not in methods:
            method = "client_secret_post"
        return AsyncOAuth2Client(
            client_id=settings.console_oidc_client_id,
            client_secret=secret.get_secret_value() if secret else None,
            token_endpoint_auth_method=method if secret else "none",
            scope=settings.console_oidc_scopes,
            redirect_uri=(settings.console_url or "").rstrip("/") + CALLBACK,
            code_challenge_method="S256",
            timeout=PATIENCE_SECONDS,
        )

    async def _get(self, url: str) -> Any:
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
            answer = await client.get(url)
            answer.raise_for_status()
            return answer.json()


def is_private(address: str) -> bool:
    """Whether nobody between reads along: https, or this machine."""
    parts = urlsplit(address)
    here = parts.hostname in ("localhost", "127.0.0.1", "::1")
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and here))


def _refusal(what: str, error: Exception) -> LoginRefused:
    """The kind of error is logged. Its words may quote a code or a token."""
    log.warning("login_refused", way="oidc", at=what, error=type(error).__name__)
    if what == "provider":
        return LoginRefused("The identity provider does not answer as it should. Try again.")
    return LoginRefused("The identity provider's answer does not hold. Try again.")
