"""``replay``: judge old topics again, and report what would change."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from typer import Option

from ..runtime.logs import configure_logging
from ..settings import settings
from .label_options import progress_bars
from .options import ScorerName, Since, Until, utc
from .output import complain, open_outputs, print_line

if TYPE_CHECKING:
    from safepassage.scoring_worker import Scorer

    from ..replay.engine import ReplayRequest
    from ..replay.plan import ReplayState
    from ..replay.report_schema import ReplayReport

NICENESS = 10


Thresholds = Annotated[
    Path | None,
    Option(help='JSON of {"default": 0.5, "by_type": {TYPE: {"value": 0.7}}}, for the scorer\'s.'),
]
Origin = Annotated[
    Literal["alignments", "extractions"],
    Option("--from", help="What to judge again; from extractions, align them again too."),
]
AlignmentThreshold = Annotated[
    float | None,
    Option("--tau", "--alignment-threshold", help="With --from extractions.", min=0, max=1),
]
Offsets = Annotated[
    str | None,
    Option(
        help="Only these: PARTITION:FROM-TO, separated by commas. TO is exclusive; without "
        "it, to the end."
    ),
]
Memory = Annotated[
    str,
    Option(
        help="What reviewers decided: as it is now, none, or a snapshot's name (a "
        "verdict's memory.snapshot), by which its verdicts repeat to the byte."
    ),
]
Rate = Annotated[float | None, Option(help="At most so many records a second.", min=0.1)]
ReplayId = Annotated[
    str | None, Option("--id", help="Names the replay; an id that was stopped goes on.")
]
Report = Annotated[Path | None, Option(help="Folder for report.html and report.json.")]


def replay(
    *,
    scorer: ScorerName = None,
    thresholds: Thresholds = None,
    origin: Origin = "alignments",
    alignment_threshold: AlignmentThreshold = None,
    since: Since = None,
    until: Until = None,
    offsets: Offsets = None,
    memory: Memory = "now",
    rate: Rate = None,
    replay_id: ReplayId = None,
    report: Report = None,
) -> None:
    """Judge again what live traffic left on `alignments`, without touching anything live.

    The verdicts go to topics of their own, `replay-ID-verdicts`. The replay makes room for live
    traffic: it slows down where the live latency would rise by more than a fifth.
    """
    from ..replay.engine import ReplayRequest
    from ..replay.plan import REPLAY_ID

    identity = replay_id or datetime.now(UTC).strftime("r%Y%m%d-%H%M%S")
    if not REPLAY_ID.fullmatch(identity):
        raise typer.BadParameter("small letters, digits and dashes, at most 40", param_hint="--id")
    if alignment_threshold is not None and origin == "alignments":
        raise typer.BadParameter(
            "alignments are taken as they are; use --from extractions",
            param_hint="--alignment-threshold",
        )
    request = ReplayRequest(
        id=identity,
        origin=origin,
        since=utc(since),
        until=utc(until),
        offsets=offsets,
        alignment_threshold=alignment_threshold,
        memory=memory,
    )
    open_outputs(folders=[report])
    configure_logging(settings(), replay=identity)
    os.nice(NICENESS)
    made = asyncio.run(_replay(request, _load(scorer, thresholds), rate))
    show_report(made, report)


def _load(scorer: str | None, thresholds: Path | None) -> Scorer:
    from safepassage.scoring_worker import load_scorer
    from safepassage.scoring_worker.manifest import Thresholds, read_contract
    from safepassage.scoring_worker.scorer_spec import ScorerSpec
    from safepassage.scoring_worker.specified_scorer import SpecifiedScorer

    read = read_contract(Thresholds, thresholds, "file of thresholds") if thresholds else None
    judging = settings()
    loaded = load_scorer(scorer or judging.judge, packs=judging.packs, strict=judging.strict)
    return SpecifiedScorer(ScorerSpec(loaded.name), loaded, thresholds=read) if read else loaded


async def _replay(request: ReplayRequest, scorer: Scorer, rate: float | None) -> ReplayReport:
    from safepassage.scoring_worker.learnt_from import said_by

    from ..replay.comparison import compare
    from ..replay.engine import run_replay
    from ..replay.plan import verdicts_topic
    from ..replay.report_schema import measured
    from ..replay.throttle import LiveGuard

    guard = LiveGuard(settings(), rate)
    await guard.start()
    try:
        with progress_bars() as on_progress:

            def advance(state: ReplayState) -> None:
                left = sum(end - start for start, end in state.remaining.values())
                on_progress(request.id, state.plan.records - left, state.plan.records)

            state = await run_replay(request, scorer, settings(), guard, advance)
    finally:
        await guard.stop()
        scorer.close()
    complain.print(f"replay {request.id}: {state.verdicts} verdicts, {state.skipped} left out")
    return await compare(
        settings(),
        verdicts_topic(request.id),
        subject=f"Replay {request.id} with scorer {scorer.name}, revision {scorer.revision}",
        run=measured(state),
        learnt=said_by(scorer),
    )


def show_report(report: ReplayReport, folder: Path | None) -> None:
    from ..replay.terminal import print_report, write_report

    print_report(report, Console())
    if folder:
        page, json_file = write_report(report, folder)
        print_line(f"written: {page} and {json_file}")
