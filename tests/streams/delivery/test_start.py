"""What Faust's source leaves behind where Faust never began to deliver: nothing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from safepassage.streams.delivery.faust_source import FaustSource
from safepassage.streams.settings import Settings
from tests.streams.broker import faust_source
from tests.streams.doubles import FakePublisher, document_role


def _left_behind(source: FaustSource) -> bool:
    return Path(source._directory.name).exists()


class Broken(Exception):
    pass


async def _fails() -> None:
    raise Broken


async def _waits() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("start", "cancelled", "raised"),
    [(_fails, False, Broken), (_waits, True, asyncio.CancelledError), (_waits, False, None)],
)
async def test_a_start_that_comes_to_nothing_leaves_neither_loop_nor_folder(
    start: Callable[[], Awaitable[None]],
    cancelled: bool,
    raised: type[BaseException] | None,
    monkeypatch: pytest.MonkeyPatch,
):
    source = faust_source(document_role(), FakePublisher(), Settings())
    monkeypatch.setattr(source._app, "start", start)
    loop = source._app.consumer._thread.thread_loop
    assert _left_behind(source)
    stop = asyncio.Event()
    running = asyncio.create_task(source.run(stop))
    await asyncio.sleep(0)
    if cancelled:
        running.cancel()
    else:
        stop.set()
    with pytest.raises(raised) if raised else contextlib.nullcontext():
        await running
    assert loop.is_closed()
    assert not _left_behind(source)
