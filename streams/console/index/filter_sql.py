"""A filter as SQL. Only fixed text becomes SQL; what a person typed is bound."""

import time

from .case_filter import CaseFilter, Pool

ANY_SKIP = "SELECT 1 FROM opinions WHERE person = ? AND NOT judged LIMIT 1"
"""Whether a person skipped anything: most did not, and looking it up per case takes time."""

_SKIPPED = "IN (SELECT case_id FROM opinions WHERE person = ? AND NOT judged)"
_POOLS: dict[Pool, str] = {
    "queue": "pool = 'queue' AND settled = 0",
    "stopped": "pool = 'queue' AND settled = 0",
    "checks": "pool = 'checks' AND settled = 0",
    "second": "settled = 1 AND id NOT IN (SELECT case_id FROM opinions WHERE person = ?)",
    "double": "waiting = 1 AND id NOT IN (SELECT case_id FROM opinions WHERE person = ?)",
    "skipped": f"settled = 0 AND id {_SKIPPED}",
    "document": "doc_id = ? AND settled = 0",
}
_BY_LOT = "lot, id"
_ORDERS = {
    "teaching": "margin, id",
    "uncertain": "margin, id",
    "oldest": "at, id",
    "newest": "at DESC, id",
}


def order(wanted: CaseFilter) -> str:
    """The order of a filter. Spot checks and second opinions come by lot."""
    return _BY_LOT if wanted.pool in ("checks", "second", "double") else _ORDERS[wanted.order]


def select(
    what: str, wanted: CaseFilter, person: str, *, has_skips: bool
) -> tuple[str, list[object]]:
    """``SELECT what`` from the cases of a filter, and the values to bind.

    ``has_skips`` says whether the person skipped any case (see `ANY_SKIP`).
    """
    unfiltered = wanted.pool in ("checks", "double")
    restrictions = [] if unfiltered else wanted.conditions(int(time.time() * 1000))
    where = [_POOLS[wanted.pool]]
    own = wanted.document if wanted.pool == "document" else person
    values: list[object] = [own] * where[0].count("?")
    if has_skips and wanted.pool in ("queue", "stopped", "checks"):
        where.append(f"id NOT {_SKIPPED}")
        values.append(person)
    where += [condition for condition, _ in restrictions]
    values += [value for _, value in restrictions]
    # Without statistics SQLite would rather keep the order than find a document's few cases.
    hint = " INDEXED BY by_document" if "doc_id = ?" in where else ""
    return f"SELECT {what} FROM cases{hint} WHERE {' AND '.join(where)}", values  # noqa: S608
