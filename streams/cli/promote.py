"""``promote``, ``rollback``, ``shadow``, ``scorers``: which scorer decides, which one beside it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..runtime.errors import OperatorError
from ..settings import settings
from .options import By, Reason, named
from .output import open_outputs, print_line, print_table

if TYPE_CHECKING:
    from safepassage.scoring_worker.detectors.registry import Declarations

    from ..release.promotion import Signature
    from ..release.promotion_bounds import Bounds, PromotionResult


Labels = Annotated[
    list[Path] | None, Option(help="Files of labelled extractions or pairs (JSON lines, .gz).")
]
Documents = Annotated[list[Path] | None, Option(help="The documents of labelled extractions.")]
Reviews = Annotated[
    bool, Option(help="Whether standing reviews count as gold labels; yes if omitted.")
]
MaxRecallLoss = Annotated[
    float, Option(help="By how much recall of unsupported may fall.", min=0, max=1)
]
MaxPassLoss = Annotated[
    float, Option(help="By how much the accepted share of supported may fall.", min=0, max=1)
]
MinF1Gain = Annotated[float, Option(help="Macro F1 must rise by more than this.", min=-1, max=1)]
MinLabels = Annotated[int, Option(help="Labels of each class that are needed.", min=1)]
Confidence = Annotated[
    float, Option(help="Confidence of the bound on recall, one-sided.", min=0.51, max=0.999)
]


def promote(
    scorer: Annotated[str, Argument(help="The candidate: a scorer's name or folder.")],
    *,
    labels: Labels = None,
    documents: Documents = None,
    reviews: Reviews = True,
    max_recall_loss: MaxRecallLoss = 0.02,
    max_pass_loss: MaxPassLoss = 0.05,
    min_f1_gain: MinF1Gain = 0.0,
    min_labels: MinLabels = 20,
    confidence: Confidence = 0.95,
    dry_run: Annotated[bool, Option("--dry-run", help="Judge, but change nothing.")] = False,
    by: By = "",
    reason: Reason = "",
) -> None:
    """Make a scorer live, if it beats the live one on the gold labels within the bounds.

    Labels of documents that it learnt from do not count, and it has to say which those are.
    Running workers take it over between two batches. Exits 1, with the reason, if it does not
    pass.
    """
    from ..release.promotion import Signature
    from ..release.promotion_bounds import Bounds

    bounds = Bounds(
        max_recall_loss=max_recall_loss,
        max_accepted_loss=max_pass_loss,
        min_f1_gain=min_f1_gain,
        min_labels=min_labels,
        confidence=confidence,
    )
    result = asyncio.run(
        _promote(
            scorer,
            (labels or [], documents or []),
            reviews,
            bounds,
            None if dry_run else Signature(by, reason),
        )
    )
    if not result.passed:
        raise typer.Exit(1)


async def _promote(
    scorer: str,
    files: tuple[list[Path], list[Path]],
    reviews: bool,
    bounds: Bounds,
    signed: Signature | None,
) -> PromotionResult:
    from safepassage.scoring_worker import load_scorer

    from ..release import promotion
    from ..release.promotion_bounds import labels_wanted

    cases = await promotion.reviewed_gold(settings()) if reviews else []
    cases += await asyncio.to_thread(promotion.labelled_gold, files[0], files[1], settings())
    supported = sum(case.supported for case in cases)
    if wanted := labels_wanted(supported, len(cases) - supported, bounds.min_labels):
        raise OperatorError(
            f"too few gold labels to compare scorers: at least {bounds.min_labels} of each are "
            f"needed, so {wanted} are wanted; review more verdicts (spot checks bring supported "
            "ones), or give --labels"
        )
    scorer = promotion.absolute(scorer)
    live = await promotion.incumbent(settings())
    result = await asyncio.to_thread(
        promotion.judged_against, live, scorer, cases, bounds, load_scorer
    )
    _print(result)
    if result.learnt:
        print_line(f"{result.learnt} labels left out: the candidate learnt from their documents")
    if not result.passed:
        missed = [bound.explanation for bound in result.bounds if not bound.passed]
        print_line(f"refused: {'; '.join(missed)}")
    elif signed is None:
        print_line("it would be promoted")
    else:
        release = await promotion.promote(settings(), live, result, scorer, signed)
        print_line(f"live: {named(release)}")
    return result


def _print(result: PromotionResult) -> None:
    old, new = result.incumbent, result.candidate
    rows: list[tuple[str, ...]] = [
        ("scorer", old.scorer, new.scorer, ""),
        ("revision", old.revision, new.revision, ""),
    ]
    for name in ("recall", "precision", "f1", "accepted", "macro_f1"):
        figures = (f"{getattr(one, name):.3f}" for one in (old, new))
        rows.append((name.replace("_", " "), *figures, ""))
    for bound in result.bounds:
        rows.append((bound.name, "", "passed" if bound.passed else "missed", bound.explanation))
    print_table(None, ("", "live", "candidate", ""), rows, texts=range(4))


def rollback(
    *,
    to: Annotated[
        str | None, Option(help="Only where the topic has lost which scorer is live: this one.")
    ] = None,
    by: By = "",
    reason: Reason = "",
) -> None:
    """Make the scorer live again that was live before the last promotion."""
    from safepassage.scoring_worker import load_scorer

    from ..release import promotion

    signed = promotion.Signature(by, reason)
    if to is None:
        release = asyncio.run(promotion.rollback(settings(), signed))
    else:
        scorer = promotion.absolute(to)
        release = asyncio.run(promotion.reinstate(settings(), scorer, load_scorer, signed))
    print_line(f"live: {named(release)}")


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


scorers_app = typer.Typer(
    help="Which scorer is live and which one shadows; `list` shows the detectors there are.",
    invoke_without_command=True,
    name="scorers",
)


@scorers_app.callback()
def scorers(context: typer.Context) -> None:
    """Show which scorer is live and which one shadows."""
    if context.invoked_subcommand is not None:
        return
    from ..release.releases import releases_in_force

    held = asyncio.run(releases_in_force(settings()))
    live, beside = held.live, held.releases.get("shadow")
    print_line(f"live: {named(live) if live else f'{settings().judge} (as configured)'}")
    print_line(f"shadow: {named(beside) if beside else settings().shadow_scorer or 'none'}")


@scorers_app.command("list")
def scorers_list() -> None:
    """Show the detectors of answers: what each needs, judges and costs. Scorers are not listed."""
    from safepassage.scoring_worker.detectors.registry import declarations

    show_detectors(declarations())


def show_detectors(known: Declarations) -> None:
    columns = ("detector", "what it is", "source", "needs", "judges", "cost", "latency")
    rows = []
    for one in known.detectors.values():
        needs, judges = (", ".join(sorted(names)) for names in (one.needs, one.judges))
        about = (one.name, one.summary, one.paper, needs or "nothing", judges)
        rows.append((*about, one.cost, one.latency))
    print_table(None, columns, rows, texts=range(len(columns)))
    for broken in known.broken:
        print_line(f"broken: {broken.name}: {broken.why}")
