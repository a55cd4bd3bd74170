"""``learn``: from decisions to a candidate that asks to be promoted, once and by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ..runtime.errors import OperatorError
from ..runtime.logs import configure_logging
from ..settings import settings
from .output import complain, print_line

if TYPE_CHECKING:
    from safepassage.schemas import LearningEvent


def learn() -> None:
    """Learn from the decisions so far, or go on with a run that was stopped.

    Head and reader are trained on the decisions, the candidate is judged on those about other
    documents, put into shadow, and replayed. Then it asks to be promoted, on the console. The role
    `learn` does the same by itself whenever there are enough new decisions.
    """
    configure_logging(settings(), run="learn")
    from ..learning.learning_source import alone

    with alone(settings().learn_folder):
        event = asyncio.run(_learn())
    if event.revision:
        print_line(f"candidate: {event.scorer}, revision {event.revision}")
    for name, what in event.learnt.items():
        print_line(f"{name} {what}")
    if event.step == "asked":
        print_line("it asks to be promoted: see Learning on the console")
    elif event.step == "promoted":
        print_line("promoted: it keeps the bounds")
    else:
        raise OperatorError(f"not promoted: {event.detail}")


async def _learn() -> LearningEvent:
    from ..kafka.admin import create_topics
    from ..kafka.publisher import open_publisher
    from ..learning.learner import Learner

    await create_topics(settings())
    async with open_publisher(settings()) as publisher:
        learner = Learner(publisher, settings())
        run = await learner.unfinished()
        if run is None:
            run, wanted = await learner.start(asked=True)
            if run is None:
                raise OperatorError(f"nothing to learn yet: {wanted}")
        else:
            wanted = "it goes on with the run that was stopped"
        complain.print(f"run {run}: {wanted}", soft_wrap=True)
        showing = asyncio.create_task(_show_progress(learner.folder(run)))
        try:
            return await learner.go_on(run)
        finally:
            showing.cancel()


async def _show_progress(folder: Path) -> None:
    from ..learning.events import read_progress
    from .label_options import progress_bars

    with progress_bars() as on_progress:
        while True:
            if known := await asyncio.to_thread(read_progress, folder):
                on_progress(known.stage, known.done, known.total)
            await asyncio.sleep(1)
