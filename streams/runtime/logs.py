"""Structured logs: JSON lines with ids, never a text or a secret.

What the libraries log through the standard library comes out in the same form, without their
arguments at debug level: those may hold records.
"""

import logging
import sys
import time

import structlog

from ..settings import Settings

# These log whole records, requests or configurations at the levels below.
_TALKATIVE = {
    "aiokafka": logging.ERROR,
    "abc": logging.ERROR,  # what mode, below faust, calls its services
    "faust": logging.ERROR,
    "mode": logging.ERROR,
    "httpx2": logging.WARNING,
    "httpx": logging.WARNING,
    "openai": logging.WARNING,
    "uvicorn": logging.WARNING,
    "uvicorn.access": logging.ERROR,
    "transformers": logging.ERROR,
}


REPEATED_SECONDS = 60.0
MAX_REMEMBERED = 200


class OnceAMinute(logging.Filter):
    """Lets a line of aiokafka's pass that was not said within the last minute, regardless of what
    its arguments: while a broker is away, each of its tasks would say it many times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.partition(".")[0] != "aiokafka":
            return True
        now, line = time.monotonic(), (record.name, str(record.msg))
        if now - self._said.get(line, float("-inf")) < REPEATED_SECONDS:
            return False
        if len(self._said) >= MAX_REMEMBERED:
            self._said.clear()
        self._said[line] = now
        return True


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """The standard one prints tracebacks of what it cannot write: they may quote a document."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Lose the line."""


def configure_command_logging(settings: Settings) -> None:
    """For commands that answer a person: warnings only, and no connection errors."""
    configure_logging(settings.model_copy(update={"log_format": "console", "log_level": "warning"}))
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


def configure_logging(settings: Settings, **bound: str) -> None:
    """Send every log line to stderr in the configured format, with ``bound`` on each of ours."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    rendered: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = _Handler(sys.stderr)
    handler.addFilter(OnceAMinute())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, rendered],
        )
    )
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    for name, level in _TALKATIVE.items():
        logging.getLogger(name).setLevel(level)
    structlog.contextvars.bind_contextvars(**bound)
