"""``mcp``: the guardrail as tools of an agent."""

from functools import partial

from safepassage.streams.runtime.logs import configure_command_logging
from safepassage.streams.settings import settings


def mcp() -> None:
    """Offer the tools `verify` and `claims` to an agent, over MCP on stdin and stdout; no Kafka."""
    from safepassage import Verifier
    from safepassage.mcp_server import mcp_server

    chosen = settings()
    configure_command_logging(chosen)
    mcp_server(partial(Verifier, settings=chosen)).run("stdio")
