"""A page for a person who looks at the service: what it answers, and how to ask."""

import json
from functools import cache
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from .openapi import openapi

_EXAMPLES: dict[str, object] = {
    "/v1/verify": {
        "text": "The Tenant shall pay a monthly rent of £1,250.",
        "extractions": [{"type": "Rent", "value": "£1,250", "quote": "a monthly rent of £1,250"}],
    },
    "/v1/claims": {
        "context": "The Tenant shall pay a monthly rent of £1,250.",
        "answer": "The rent is £1,250 a month.",
    },
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}
_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
pre { padding: .75rem; overflow-x: auto; border: 1px solid; border-radius: .25rem }
"""


async def page(_request: Request) -> Response:
    """Every route of ``/openapi.json`` with its summary, and a call that can be copied."""
    return HTMLResponse(_html(), headers=_HEADERS)


@cache
def _html() -> str:
    described = openapi()
    routes = "".join(
        _route(method.upper(), path, operation)
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>SafePassage</title>'
        f"<style>{_STYLE}</style><h1>SafePassage {escape(described['info']['version'])}</h1>"
        "<p>Verdicts over HTTP: is what was extracted from a text supported by it?</p>"
        f"{routes}"
        '<p><a href="/openapi.json">/openapi.json</a> has every field, for a client that is made '
        'from it; <a href="/metrics">/metrics</a> is for Prometheus. Both, and every question, '
        "need the bearer token where one is set.</p></html>"
    )


def _route(method: str, path: str, operation: dict[str, str]) -> str:
    title = f"<h2><code>{method} {escape(path)}</code></h2><p>{escape(operation['summary'])}.</p>"
    if path not in _EXAMPLES:
        return title
    asked = json.dumps(_EXAMPLES[path], ensure_ascii=False, indent=2)
    call = (
        f"curl -s http://HOST:PORT{path} -H 'content-type: application/json' \\\n"
        f"  -H \"authorization: Bearer $TOKEN\" -d '{asked}'"
    )
    return f"{title}<pre>{escape(call)}</pre>"
