"""The risk of what passes, before and after: by labels that chance chose."""

from collections.abc import Sequence

from safepassage.scoring_worker.learnt_from import DigestKeyMissing, LearntFrom
from safepassage.scoring_worker.risk.accepted import ACCEPTED, STOPPED, AcceptedRisk
from safepassage.scoring_worker.risk.strata import DrawnLabel
from safepassage.streams.labels.from_reviews import Label
from safepassage.streams.settings import Settings

from .side_outcomes import OneSide


def certified_risks(
    before: OneSide,
    after: OneSide,
    labels: Sequence[Label],
    settings: Settings,
    *,
    learnt: LearntFrom | None,
) -> tuple[AcceptedRisk, AcceptedRisk]:
    """The risk of what ``before`` lets pass, and of what ``after`` does. Labels of documents that
    the candidate ``learnt`` from say nothing of it."""
    drawn = [label for label in labels if _by_chance(label)]
    both = before.keys() & after.keys()
    newly = sum(before[i].decision != "accepted" == after[i].decision for i in both)
    lacking = "the candidate does not say which documents it learnt from"
    risk = None
    if learnt is not None:
        try:
            fair = [label for label in drawn if not _knows(learnt, label)]
            risk = _risk(after, fair, newly, settings)
        except DigestKeyMissing as error:
            lacking = str(error)
    unknown = AcceptedRisk(
        confidence=settings.risk_confidence, asked=settings.risk, lacking=lacking
    )
    return _risk(before, drawn, 0, settings), risk or unknown


def _by_chance(label: Label) -> bool:
    return label.kind == "spot_check" or (label.kind == "review" and label.draw is not None)


def _knows(learnt: LearntFrom, label: Label) -> bool:
    passages = [label.verdict.passage] if label.verdict.passage else []
    return learnt.knows(label.verdict.doc_id, passages)


def _risk(side: OneSide, labels: Sequence[Label], newly: int, settings: Settings) -> AcceptedRisk:
    drawn = [
        DrawnLabel(
            ACCEPTED if opinion.decision == "accepted" else STOPPED,
            wrong=not label.label,
            accepted=label.kind == "spot_check",
            draw=label.draw,
        )
        for label in labels
        if (opinion := side.get(label.verdict.extraction_id)) is not None
    ]
    return AcceptedRisk.of(drawn, newly, confidence=settings.risk_confidence, asked=settings.risk)
