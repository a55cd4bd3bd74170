"""The templates: everything escaped, undefined names are errors."""

import time
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from ..index.store import UNKNOWN_TIME
from .marking import cut, plain, visible, visible_change

HERE = Path(__file__).parent
STATIC = HERE / "static"

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def render(name: str, context: Mapping[str, object], status: int = 200) -> HTMLResponse:
    return HTMLResponse(ENVIRONMENT.get_template(name).render(context), status_code=status)


def ago(milliseconds: int) -> str:
    if milliseconds == UNKNOWN_TIME:
        return "age unknown"
    seconds = max(0, int(time.time() - milliseconds / 1000))
    for size, unit in _UNITS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%"


ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters |= {
    one.__name__: one for one in (visible, visible_change, plain, cut, ago, percent)
}
