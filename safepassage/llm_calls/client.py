"""The official OpenAI client, with bounds on what an endpoint may send."""

import ipaddress
from collections.abc import AsyncIterator

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from .errors import LLMRejected, TooLarge
from .settings import LLMSettings

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
KEYLESS = "none"
"""Local endpoints ask for no key, but the client insists on one."""


def configured_client(settings: LLMSettings, *, timeout: float | None = None) -> AsyncOpenAI:
    """`create_client` as ``settings`` say; ``timeout`` in place of theirs where it is given."""
    key = settings.openai_api_key
    return create_client(
        settings.openai_base_url,
        api_key=key.get_secret_value() if key else None,
        timeout=settings.llm_timeout_seconds if timeout is None else timeout,
    )


def create_client(
    base_url: str,
    *,
    api_key: str | None = None,
    timeout: float = 120.0,
    max_response_bytes: int = MAX_RESPONSE_BYTES,
) -> AsyncOpenAI:
    """A client of any OpenAI-compatible endpoint, e.g. ``http://127.0.0.1:8000/v1``.

    It never retries on its own, since `Caller` does, and reads at most
    ``max_response_bytes`` of a response, errors included. ``timeout`` is in seconds.
    Close it with ``await client.close()``.
    """

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise LLMRejected("the endpoint compresses its answers though asked not to")
        if not isinstance(response.stream, httpx2.AsyncByteStream):
            raise TypeError("a response of an async client streams asynchronously")
        response.stream = _BoundedStream(response.stream, max_response_bytes)

    return AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or KEYLESS,
        max_retries=0,
        timeout=timeout,
        # A compressed answer could grow a thousandfold behind the bound on its bytes.
        default_headers={"Accept-Encoding": "identity"},
        http_client=DefaultAsyncHttpxClient(
            event_hooks={"response": [bound]},
            timeout=timeout,
            # A proxy from the environment cannot reach this machine's loopback.
            trust_env=not _is_loopback(base_url),
        ),
    )


def _is_loopback(base_url: str) -> bool:
    host = httpx2.URL(base_url).host
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = self._max_bytes
        async for part in self._stream:
            remaining -= len(part)
            if remaining < 0:
                raise TooLarge(f"the response has more than {self._max_bytes} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
