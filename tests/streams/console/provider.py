"""A small OpenID Connect provider on a port of this machine: discovery, keys, the code flow with
PKCE, and ID tokens that a test may spoil."""

from __future__ import annotations

import base64
import hashlib
import html
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from safepassage.service.quiet_server import quiet_server
from safepassage.streams.demo.embedded import free_port

CLIENT_ID = "console"
CLIENT_SECRET = "the client's secret"
KEY = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"}, auto_kid=False)
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"}, auto_kid=False)


class Provider:
    """``person`` logs in at once, or if it ``asks``, with a click on a page of its own.
    ``spoilt`` replaces claims of the next ID tokens, ``key`` signs them by ``algorithm``."""

    def __init__(self, redirect: str, host: str = "127.0.0.1") -> None:
        self.issuer = f"http://{host}:{free_port()}"
        self.named = self.issuer
        self.person: dict[str, Any] = {"sub": "sub-ana", "preferred_username": "Ana Reyes"}
        self.asks = False
        self.spoilt: dict[str, Any] = {}
        self.left_out: tuple[str, ...] = ()
        self.key, self.published, self.algorithm = KEY, [KEY], "RS256"
        self.asked: list[Mapping[str, str]] = []
        self._redirect = redirect
        self._codes: dict[str, Mapping[str, str]] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/keys", self._keys),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    async def _metadata(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.named,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                # What the console must not take from here: which algorithms it believes.
                "id_token_signing_alg_values_supported": ["none", "HS256", "RS256"],
            }
        )

    async def _keys(self, _request: Request) -> Response:
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.published]})

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.asked.append(asked)
        good = (
            asked["client_id"] == CLIENT_ID
            and asked["redirect_uri"] == self._redirect
            and asked["response_type"] == "code"
            and asked["code_challenge_method"] == "S256"
            and "openid" in asked["scope"].split()
        )
        if not good:
            return Response("bad request", 400)
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked
        answer = urlencode({"code": code, "state": asked["state"], "iss": self.issuer})
        back = f"{self._redirect}?{answer}"
        if self.asks:
            return HTMLResponse(f'<a id="agree" href="{html.escape(back)}">Log in as Ana</a>')
        return RedirectResponse(back, 302)

    async def _token(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        asked = self._codes.pop(form.get("code", ""), None)
        known = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        proof = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).decode().rstrip("=")
        good = (
            asked is not None
            and request.headers.get("authorization") == f"Basic {known}"
            and form.get("grant_type") == "authorization_code"
            and form.get("redirect_uri") == self._redirect
            and challenge == asked["code_challenge"]
        )
        if not good or asked is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(
            {"access_token": "a", "token_type": "Bearer", "id_token": self._id_token(asked)}
        )

    def _id_token(self, asked: Mapping[str, str]) -> str:
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "aud": asked["client_id"],
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **self.person,
            **self.spoilt,
        }
        claims = {name: value for name, value in claims.items() if name not in self.left_out}
        header = {"alg": self.algorithm, "kid": self.key.kid}
        if self.algorithm == "none":
            parts = (jwt.json.dumps(part).encode() for part in (header, claims))
            packed = ".".join(base64.urlsafe_b64encode(p).decode().rstrip("=") for p in parts)
            return f"{packed}."
        if self.algorithm == "HS256":  # the public key as the secret of a MAC
            secret = OctKey.import_key(KEY.as_pem(private=False))
            return jwt.encode(header, claims, secret, algorithms=["HS256"])
        return jwt.encode(header, claims, self.key, algorithms=[self.algorithm])


@contextmanager
def running_provider(redirect: str, host: str = "127.0.0.1") -> Iterator[Provider]:
    """A provider that sends browsers back to ``redirect``, in a thread of its own."""
    provider = Provider(redirect, host)
    server = quiet_server(provider.app(), "127.0.0.1", int(provider.issuer.rpartition(":")[2]))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield provider
    finally:
        server.should_exit = True
        thread.join()
