"""An LLM server as people have one at home: it streams, slowly, and works on few calls at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass
class SlowServer:
    """``slots`` calls at once, each at ``tokens_per_second``; further ones wait without a word.

    ``answer`` is what it says, a word a token. ``tells_slots``: at ``/props``, as llama.cpp does.
    ``silent_calls``: that many calls are taken and never answered. ``refuses`` are fields of a
    request that it does not know.
    """

    answer: str = '{"entities": []}'
    slots: int = 1
    tokens_per_second: float = 3.0
    tells_slots: bool = False
    silent_calls: int = 0
    refuses: tuple[str, ...] = ()
    breaks_off: bool = False
    retry_after: float | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    finished: int = 0
    most_at_once: int = 0
    _at_once: int = 0

    def app(self) -> Starlette:
        self._free = asyncio.Semaphore(self.slots)
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/props", self._props),
            ]
        )

    async def _models(self, _request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "slow", "object": "model"}]})

    async def _props(self, _request: Request) -> Response:
        if not self.tells_slots:
            return JSONResponse({}, 404)
        return JSONResponse({"total_slots": self.slots})

    async def _complete(self, request: Request) -> Response:
        asked = await request.json()
        self.requests.append(asked)
        if self.retry_after is not None and len(self.requests) == 1:
            headers = {"Retry-After": f"{self.retry_after:g}"}
            return JSONResponse({"error": {"message": "busy"}}, 429, headers=headers)
        for name in self.refuses:
            if name in asked:
                error = {"message": f"Unsupported parameter: '{name}'", "param": name}
                return JSONResponse({"error": error}, 400)
        return StreamingResponse(self._events(len(self.requests)), media_type="text/event-stream")

    async def _events(self, number: int) -> AsyncIterator[str]:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            # The start of an answer comes with its first token, as with every server tried.
            async with self._free:
                if number <= self.silent_calls:
                    await asyncio.sleep(3600)
                for token in self._tokens():
                    await asyncio.sleep(1 / self.tokens_per_second)
                    yield _event({"delta": {"content": token}})
                if not self.breaks_off:
                    yield _event({"delta": {}, "finish_reason": "stop"})
                    usage = {"prompt_tokens": 7, "completion_tokens": len(self._tokens())}
                    yield f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n"
                    yield "data: [DONE]\n\n"
                    self.finished += 1
        finally:
            self._at_once -= 1

    def _tokens(self) -> list[str]:
        return self.answer.replace(" ", " \0").split("\0")


def _event(choice: dict[str, Any]) -> str:
    return f": kept open\n\ndata: {json.dumps({'choices': [{'index': 0, **choice}]})}\n\n"
