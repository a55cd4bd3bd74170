"""``serve``: verdicts over HTTP."""

import asyncio
from functools import partial

from ..runtime.logs import configure_command_logging, configure_logging
from ..settings import settings
from .output import complain


def serve() -> None:
    """Serve verdicts over HTTP at SAFEPASSAGE_SERVE_HOST and _PORT until stopped; no Kafka."""
    from safepassage import Verifier
    from safepassage.service.app import service_app
    from safepassage.service.limits import Limits
    from safepassage.service.serving import check_entrance
    from safepassage.service.serving import serve as serve_app

    from ..runtime.health import open_listener
    from ..runtime.signals import stop_event

    chosen = settings()
    token = chosen.serve_token.get_secret_value() if chosen.serve_token else None
    check_entrance(chosen.serve_host, token)
    configure_logging(chosen, role="serve")
    limits = Limits(
        body_bytes=chosen.serve_max_body_bytes,
        concurrency=chosen.serve_concurrency,
        queue=chosen.serve_queue,
        timeout_seconds=chosen.serve_timeout_seconds,
        stalled_seconds=chosen.stalled_after_seconds,
    )
    address = chosen.serve_host, chosen.serve_port
    # A port that is taken is told now. Nobody can connect before the scorer is there to answer.
    open_listener("the service", *address, "SAFEPASSAGE_SERVE").close()
    with Verifier(settings=chosen) as verifier:
        app = service_app(verifier, limits=limits, token=token)
        listening = open_listener("the service", *address, "SAFEPASSAGE_SERVE")
        host, port = listening.getsockname()[:2]
        complain.print(f"serving http://{host}:{port} (/openapi.json describes it)")

        async def serving() -> None:
            await serve_app(app, listening, stop_event(), drain_seconds=chosen.drain_seconds)

        asyncio.run(serving())


def mcp() -> None:
    """Offer the tools `verify` and `claims` to an agent, over MCP on stdin and stdout; no Kafka."""
    from safepassage import Verifier
    from safepassage.mcp_server import mcp_server

    chosen = settings()
    configure_command_logging(chosen)
    mcp_server(partial(Verifier, settings=chosen)).run("stdio")
