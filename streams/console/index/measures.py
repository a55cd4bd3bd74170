"""What the console's index says about the guardrail: queue, leakage, extractors."""

from dataclasses import dataclass

from safepassage.schemas.proportion import Proportion
from safepassage.streams.labels.reviewer_agreement import ReviewerAgreement, agreement
from safepassage.streams.labels.wanted import wanted
from safepassage.streams.verdicts.extractor_scores import ExtractorScore, scores

from .store import CaseStore

FACETS = ("entity_type", "model")


@dataclass(frozen=True, slots=True)
class Leakage:
    """Of the accepted verdicts drawn by lot and judged, those that a person refused."""

    revision: str
    leaked: Proportion


def open_cases(store: CaseStore) -> dict[str, int]:
    """Cases that wait for a reviewer, by pool."""
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
    """The SafePassage score per model and prompt (see `extractor_scores`)."""
    rows = store.connection.execute(
        "SELECT model, prompt, decision, count(*) FROM cases GROUP BY model, prompt, decision"
    )
    return scores({(model, prompt, decision): count for model, prompt, decision, count in rows})


def agreements(store: CaseStore) -> list[ReviewerAgreement]:
    """How far people agree who did not see each other's decision: over all, then by type."""
    rows = store.connection.execute("SELECT entity_type, first, second FROM agreement")
    return agreement([(entity_type, (first, second)) for entity_type, first, second in rows])


def labels_wanted(store: CaseStore, share: float, each: int) -> list[str]:
    """What is missing to learn from decisions, in words (see `labels.wanted`). A correction is two
    labels: the value was wrong, and the corrected one is right."""
    rows = store.connection.execute(
        "SELECT doc_id, decision FROM decisions WHERE decision IS NOT NULL"
    )
    decided = []
    for document, decision in rows:
        decided.append((str(document), decision == "supports"))
        if decision == "corrected":
            decided.append((str(document), True))
    return wanted(decided, share, each)
