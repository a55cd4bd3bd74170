"""``shadow``: a candidate beside the live scorer."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ..settings import settings
from .options import By, Reason, named
from .output import open_outputs, print_line


def shadow(
    scorer: Annotated[
        str | None, Argument(help="The candidate: a scorer's name or folder.")
    ] = None,
    *,
    off: Annotated[bool, Option("--off", help="End shadowing.")] = False,
    report: Annotated[
        Path | None, Option(help="Instead, report on what it judged so far, into a folder.")
    ] = None,
    by: By = "",
    reason: Reason = "",
) -> None:
    """Let a candidate judge live traffic beside the live scorer, without deciding.

    The report is on the candidate that is named with it, or else on the one that shadows now.
    """
    if report is not None and not off:
        open_outputs(folders=[report])
        asyncio.run(_report_on_shadow(report, scorer))
        return
    if sum((scorer is not None, off, report is not None)) != 1:
        raise typer.BadParameter("give one of: a scorer, --off, --report")
    from safepassage.scoring_worker import load_scorer

    from ..release import promotion

    candidate = promotion.absolute(scorer) if scorer else None
    signed = promotion.Signature(by, reason)
    release = asyncio.run(promotion.shadow(settings(), candidate, load_scorer, signed))
    print_line(f"shadow: {named(release)}")


async def _report_on_shadow(folder: Path, scorer: str | None) -> None:
    from safepassage.schemas.decision_rule import in_mode

    from ..release.shadow import shadowing_revision
    from ..replay.comparison import compare
    from ..topics import SHADOW
    from .replay import show_report

    learnt = None
    if scorer is None:
        revision = await shadowing_revision(settings())
    else:
        from safepassage.scoring_worker import load_scorer
        from safepassage.scoring_worker.learnt_from import said_by

        candidate = load_scorer(scorer)
        revision, learnt = candidate.revision, said_by(candidate)
        candidate.close()
    revision = in_mode(revision, strict=settings().strict)
    subject = f"Shadow: revision {revision} against the live verdicts"
    made = await compare(settings(), SHADOW, subject=subject, revision=revision, learnt=learnt)
    show_report(made, folder)
