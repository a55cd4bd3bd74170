"""What the console's index says about the guardrail: queue, leakage, extractors."""

from dataclasses import dataclass, replace

import numpy as np

from safepassage.schemas.proportion import Proportion
from safepassage.scoring_worker.risk.bounds import (
    capital,
    clopper_pearson,
    labels_needed,
    least_share_to_people,
)
from safepassage.scoring_worker.risk.certificate import CertifiedThreshold, Stratum, certify
from safepassage.scoring_worker.risk.groups import NOTHING_PASSES

from ...labels.from_reviews import wanted
from ...labels.reviewer_agreement import ReviewerAgreement, agreement
from ...verdicts.extractor_scores import ExtractorScore, scores
from .store import CaseStore

FACETS = ("entity_type", "model")


@dataclass(frozen=True, slots=True)
class Leakage:
    """Of the accepted verdicts drawn by lot and judged, those that a person refused."""

    revision: str
    leaked: Proportion


def open_cases(store: CaseStore) -> dict[str, int]:
    rows = store.connection.execute(
        "SELECT pool, count(*) FROM cases WHERE pool IN ('queue', 'checks') AND settled = 0 "
        "GROUP BY pool"
    )
    (waiting,) = store.connection.execute("SELECT count(*) FROM cases WHERE waiting = 1").fetchone()
    return {"queue": 0, "checks": 0} | dict(rows.fetchall()) | {"double": waiting}


def facets(store: CaseStore) -> dict[str, list[tuple[str, int]]]:
    """The values to filter by, most frequent first, each with its number of open cases."""
    found = {}
    for column in FACETS:
        rows = store.connection.execute(
            f"SELECT {column}, count(*) FROM cases WHERE pool = 'queue' AND settled = 0 "  # noqa: S608
            f"GROUP BY {column} ORDER BY 2 DESC, 1 LIMIT 200"
        )
        found[column] = [(str(value), int(count)) for value, count in rows if value]
    return found


def leakage(store: CaseStore) -> list[Leakage]:
    """Leakage over all scorer revisions (revision ""), then of each."""
    rows = store.connection.execute(
        "SELECT revision, sum(wrong), count(*) FROM labelled "
        "WHERE accepted AND drawn IS NOT NULL GROUP BY revision ORDER BY 3 DESC"
    ).fetchall()
    total = Proportion(sum(row[1] for row in rows), sum(row[2] for row in rows))
    each = [Leakage(revision or "(unknown)", Proportion(k, n)) for revision, k, n in rows]
    return [Leakage("", total), *each]


def extractor_scores(store: CaseStore) -> list[ExtractorScore]:
    rows = store.connection.execute(
        "SELECT model, prompt, decision, count(*) FROM cases GROUP BY model, prompt, decision"
    )
    return scores({(model, prompt, decision): count for model, prompt, decision, count in rows})


def agreements(store: CaseStore) -> list[ReviewerAgreement]:
    """How far people agree who did not see each other's decision: over all, then by type."""
    rows = store.connection.execute("SELECT entity_type, first, second FROM agreement")
    return agreement([(entity_type, (first, second)) for entity_type, first, second in rows])


def labels_wanted(store: CaseStore, share: float, each: int) -> list[str]:
    """What is missing to learn, in words. A correction is two labels: one wrong, one right."""
    rows = store.connection.execute(
        "SELECT doc_id, decision FROM decisions WHERE decision IS NOT NULL"
    )
    decided = []
    for document, decision in rows:
        decided.append((str(document), decision == "supports"))
        if decision == "corrected":
            decided.append((str(document), True))
    return wanted(decided, share, each)


MAX_PARTS = 50


@dataclass(frozen=True, slots=True)
class LiveRisk:
    """Of what one scorer accepted, all of it ("") or of one entity type.

    ``wrong`` of the spot checks that were judged; ``bounds`` are Clopper and Pearson's, each at the
    confidence asked for; ``passed`` is how much of everything was accepted without a person.
    ``wanted`` more checks, as good as these, would certify ``asked``; None where none would, 0
    where it is certified. ``broken``: the checks show, whenever one looks, that more is wrong.
    """

    entity_type: str
    wrong: Proportion
    bounds: tuple[float, float]
    passed: Proportion
    asked: float | None
    wanted: int | None = None
    to_people: float = 0.0
    broken: bool = False

    @property
    def certified(self) -> bool:
        return self.asked is not None and self.bounds[1] <= self.asked


def live_risk(
    store: CaseStore, revision: str, asked: float | None, confidence: float
) -> list[LiveRisk]:
    """The risk of all that the scorer of ``revision`` accepted, then by type, most checks first."""
    checks: dict[str, list[bool]] = {"": []}
    for entity_type, wrong in store.connection.execute(
        "SELECT entity_type, wrong FROM labelled WHERE revision = ? AND accepted "
        "AND drawn IS NOT NULL",
        (revision,),
    ):
        checks[""].append(bool(wrong))
        checks.setdefault(entity_type, []).append(bool(wrong))
    passed = _passed(store, revision)
    named = sorted(checks, key=lambda name: (name != "", -len(checks[name]), name))[:MAX_PARTS]
    # A false alarm of any of them counts, so each has its share of the error.
    error = (1 - confidence) / len(named)
    found = []
    for name in named:
        risk = _risk(name, checks[name], passed.get(name, Proportion(0, 0)), asked, confidence)
        if asked is not None and checks[name]:
            bet = capital(asked - np.array(checks[name], dtype=np.float64), asked)
            risk = replace(risk, broken=bet >= 1 / error)
        found.append(risk)
    return found


def stricter_threshold(
    store: CaseStore, revision: str, part: str, risk: float, confidence: float
) -> float:
    """The loosest threshold at or above those in force that keeps ``risk`` on the spot checks of
    ``part``; 1, where nothing passes, if none does."""
    rows = store.connection.execute(
        "SELECT score, wrong, threshold FROM labelled WHERE revision = ? AND accepted "
        "AND drawn IS NOT NULL AND score IS NOT NULL AND (? IN ('', entity_type))",
        (revision, part),
    ).fetchall()
    sample = Stratum.of([row[0] for row in rows], [row[1] for row in rows])
    least = max((row[2] or 0.0 for row in rows), default=0.0)
    found = certify([sample], risk, confidence, least=least)
    return found.value if isinstance(found, CertifiedThreshold) else NOTHING_PASSES


def _passed(store: CaseStore, revision: str) -> dict[str, Proportion]:
    counts: dict[str, list[int]] = {"": [0, 0]}
    for entity_type, decision, count in store.connection.execute(
        "SELECT entity_type, decision, count(*) FROM cases WHERE revision = ? "
        "GROUP BY entity_type, decision",
        (revision,),
    ):
        for name in ("", entity_type):
            own = counts.setdefault(name, [0, 0])
            own[0] += count * (decision == "accepted")
            own[1] += count
    return {name: Proportion(accepted, total) for name, (accepted, total) in counts.items()}


def _risk(
    name: str, checks: list[bool], passed: Proportion, asked: float | None, confidence: float
) -> LiveRisk:
    wrong = Proportion(sum(checks), len(checks))
    bounds = clopper_pearson(wrong.successes, wrong.total, confidence)
    found = LiveRisk(name, wrong, bounds, passed, asked)
    if asked is None:
        return found
    observed = wrong.share or 0.0
    wanted: int | None = None
    if (needed := labels_needed(asked, confidence, observed)) is not None:
        wanted = 0 if bounds[1] <= asked else max(1, needed - wrong.total)
    return replace(found, wanted=wanted, to_people=least_share_to_people(observed, asked))
