"""``promote``: make a scorer live, if the gold labels speak for it."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..runtime.errors import OperatorError
from ..settings import settings
from .options import By, Reason, named, utc
from .output import print_line, print_table

if TYPE_CHECKING:
    from ..release.promotion import Signature
    from ..release.promotion_bounds import Bounds, PromotionResult


Labels = Annotated[
    list[Path] | None, Option(help="Files of labelled extractions or pairs (JSON lines, .gz).")
]
Documents = Annotated[list[Path] | None, Option(help="The documents of labelled extractions.")]
Reviews = Annotated[
    bool, Option(help="Whether standing reviews count as gold labels; yes if omitted.")
]
ReviewsSince = Annotated[datetime | None, Option(help="Only reviews made from this time (UTC) on.")]
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
    reviews_since: ReviewsSince = None,
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
            (reviews, utc(reviews_since)),
            bounds,
            None if dry_run else Signature(by, reason),
        )
    )
    if not result.passed:
        raise typer.Exit(1)


async def _promote(
    scorer: str,
    files: tuple[list[Path], list[Path]],
    reviews: tuple[bool, datetime | None],
    bounds: Bounds,
    signed: Signature | None,
) -> PromotionResult:
    from safepassage.scoring_worker import load_scorer

    from ..release import promotion
    from ..release.promotion_bounds import labels_wanted

    cases = await promotion.reviewed_gold(settings(), reviews[1]) if reviews[0] else []
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
    rows = [
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
