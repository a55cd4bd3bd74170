"""What the commands that read labels share: sources, refusals, progress, targets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.progress import Progress, TaskID
from typer import Argument, Option

from ..runtime.errors import OperatorError
from ..settings import settings
from .options import fields_of
from .output import complain

if TYPE_CHECKING:
    from safepassage.scoring_worker.evaluation.cases import Dataset
    from safepassage.scoring_worker.evaluation.sources import OnProgress, Sources
    from safepassage.scoring_worker.threshold_fitting import Target

SHOWN_REFUSALS = 20
SECONDS_BETWEEN_LINES = 30

Datasets = Annotated[
    list[Path],
    Argument(
        metavar="DATASET...",
        help="JSON lines (.gz) of labelled extractions, pairs, answers, or documents with "
        "annotated entities; which, the fields tell.",
    ),
]
Documents = Annotated[
    list[Path],
    Option("--documents", "-d", help='JSON lines (.gz) of {"id", "text"}, for extractions.'),
]
Report = Annotated[Path | None, Option(help="Folder for tables as Markdown and reliability plots.")]
LabelsFrom = Annotated[str | None, Option(help="Who gave the labels; printed beside the figures.")]
TargetOption = Annotated[
    str,
    Option(
        "--target",
        help="What thresholds are fitted to: f1, or such as recall=0.97, precision=0.96 or "
        "refused=0.1.",
    ),
]
Limit = Annotated[
    int | None, Option(help="About so many cases of each data set, whole documents.", min=1)
]


@contextmanager
def progress_bars() -> Iterator[OnProgress]:
    """A bar on stderr for each stage; where that is no terminal, lines."""
    if not complain.is_terminal:
        yield progress_lines()
        return
    with Progress(console=complain) as bars:
        tasks: dict[str, TaskID] = {}

        def on_progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage)
            bars.update(tasks[stage], completed=done, total=total)

        yield on_progress


def progress_lines(clock: Callable[[], float] = time.monotonic) -> OnProgress:
    """Progress for a log: "stage: done of total" when a stage is done, and every half minute."""
    shown: dict[str, tuple[float, int]] = {}

    def on_progress(stage: str, done: int, total: int) -> None:
        now = clock()
        last, said = shown.setdefault(stage, (now, -1))
        if done < said:  # the stage comes again, for another file
            last, said = shown[stage] = (now, -1)
        if done > said and (done >= total or now - last >= SECONDS_BETWEEN_LINES):
            shown[stage] = (now, done)
            complain.print(f"{stage}: {done} of {total}", soft_wrap=True)

    return on_progress


def label_sources(
    documents: Iterable[Path], seed: int, on_progress: OnProgress, schema: str | None = None
) -> Sources:
    """Documents, the configured aligner, the splitter of answers, and the fields of ``schema``, by
    default of the configured one."""
    from safepassage.pipeline import align_with, ground, new_aligner
    from safepassage.scoring_worker.evaluation.sources import Sources, read_documents

    fields = fields_of(schema)
    described = {"describe": fields.filled} if fields else {}
    return Sources(
        documents=read_documents(documents),
        align=partial(align_with, new_aligner(settings())),
        ground=ground,
        seed=seed,
        on_progress=on_progress,
        **described,
    )


def read_labelled(path: Path, sources: Sources, labels: str | None, limit: int | None) -> Dataset:
    """The cases of a file; rows that cannot be read are told on stderr."""
    from safepassage.scoring_worker.evaluation.datasets import read_dataset

    dataset = read_dataset(path, sources, labels=labels, limit=limit)
    show_refused(path, dataset.refused)
    return dataset


def show_refused(path: Path, refused: tuple[str, ...]) -> None:
    """One line on stderr for each row that could not be read, as far as that helps."""
    for line in refused[:SHOWN_REFUSALS]:
        complain.print(f"refused {line}", soft_wrap=True)
    if len(refused) > SHOWN_REFUSALS:
        complain.print(f"refused {len(refused) - SHOWN_REFUSALS} more rows of {path}")


def read_target(text: str) -> Target:
    """ "f1", or a figure to reach such as "recall=0.97", "precision=0.96" or "refused=0.1"."""
    from safepassage.scoring_worker.threshold_fitting import Target

    measure, given, value = text.partition("=")
    if text == "f1":
        return Target()
    try:
        if given and measure in {"precision", "recall", "refused"}:
            return Target.model_validate({"measure": measure, "value": float(value)})
    except ValueError:
        pass
    raise OperatorError(
        f"target {text!r} is neither f1 nor such as recall=0.97, precision=0.96 or refused=0.1"
    )
