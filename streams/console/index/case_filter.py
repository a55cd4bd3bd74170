"""Which cases a reviewer wants: pools, filters, orders, and the lot for spot checks. Pure.

The choice of the next one is in `next_case`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from safepassage.schemas import Verdict, stable_id

Pool = Literal["queue", "stopped", "checks", "second", "double", "skipped", "document"]
"""``queue``: what was stopped, with spot checks mixed in; ``stopped``: without them; ``checks``:
only them: they ignore the filters and come in the order of their lot, since those that a reviewer
would choose say nothing about the rest; ``second``: cases that others decided; ``double``: those
of them that wait for another person, regardless of the filter; ``skipped``: what the reviewer
skipped; ``document``: all open ones of one document, accepted ones too."""

Order = Literal["teaching", "uncertain", "oldest", "newest"]
"""``teaching``: drawn by chance, what teaches most more often; as a list, uncertain ones first."""
Age = Literal["", "hour", "day", "week", "older-day", "older-week"]

_HOUR_MILLISECONDS = 3_600_000
_AGES: dict[str, int] = {"hour": 1, "day": 24, "week": 168, "older-day": 24, "older-week": 168}
_LOT_DIGITS = 13
_TEXTS = ("entity_type", "reason", "error_type", "model", "document")
_CHOICES = {"pool": get_args(Pool), "order": get_args(Order), "age": get_args(Age)}


def margin(verdict: Verdict) -> float:
    """How far from certain, smallest first: |score - threshold| of what was scored, in [0, 1];
    after those 1 + |D - tau| of what was only aligned; then 3, of what was never measured."""
    if verdict.score is not None and verdict.threshold is not None:
        return abs(verdict.score - verdict.threshold)
    alignment = verdict.alignment
    if alignment is not None and alignment.scored and alignment.route != "none":
        return 1 + abs(alignment.score - alignment.threshold)
    return 3.0


def lot(verdict: Verdict) -> float:
    """A number in [0, 1) that only the verdict's id decides: the draw survives every restart."""
    return float(int(stable_id("lot", verdict.id)[:_LOT_DIGITS], 16) / 16**_LOT_DIGITS)


def double_lot(case_id: str) -> float:
    """The same for a case: whether two people review it who do not see each other's decision."""
    return float(int(stable_id("double", case_id)[:_LOT_DIGITS], 16) / 16**_LOT_DIGITS)


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """What a reviewer wants to see. Empty and None represent no restriction."""

    pool: Pool = "queue"
    order: Order = "teaching"
    entity_type: str = ""
    reason: str = ""
    error_type: str = ""
    model: str = ""
    document: str = ""
    age: Age = ""
    min_score: float | None = None
    max_score: float | None = None

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> CaseFilter:
        """The filter of a query string; what it says wrongly restricts nothing."""
        given: dict[str, Any] = {name: query[name].strip() for name in _TEXTS if name in query}
        given |= {name: query[name] for name in _CHOICES if query.get(name) in _CHOICES[name]}
        given |= {name: _score(query.get(name, "")) for name in ("min_score", "max_score")}
        return cls(**given)

    def query(self) -> dict[str, str]:
        """What differs from no filter, for links and hidden fields."""
        default = CaseFilter()
        return {
            field.name: str(value)
            for field in fields(self)
            if (value := getattr(self, field.name)) != getattr(default, field.name)
        }

    @property
    def drawn(self) -> bool:
        everything = not self.restrictions
        teaching = self.order == "teaching" and self.pool in ("queue", "stopped")
        return everything and (teaching or self.pool == "checks")

    @property
    def restrictions(self) -> int:
        return len(self.query().keys() - {"pool", "order"})

    def conditions(self, now_milliseconds: int) -> list[tuple[str, object]]:
        """The restrictions as SQL conditions on ``cases``, each with its one parameter."""
        found: list[tuple[str, object]] = [
            (condition, value)
            for condition, value in (
                ("entity_type = ?", self.entity_type),
                ("instr(reasons, ?) > 0", f" {self.reason} " if self.reason else ""),
                ("instr(error_types, ?) > 0", f" {self.error_type} " if self.error_type else ""),
                ("model = ?", self.model),
                ("doc_id = ?", self.document),
            )
            if value
        ]
        if self.min_score is not None:
            found.append(("score >= ?", self.min_score))
        if self.max_score is not None:
            found.append(("score <= ?", self.max_score))
        if self.age:
            sign = "<" if self.age.startswith("older") else ">="
            limit = now_milliseconds - _AGES[self.age] * _HOUR_MILLISECONDS
            found.append((f"at {sign} ?", limit))
        return found


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if 0 <= score <= 1 else None


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
    return _BY_LOT if wanted.pool in ("checks", "second", "double") else _ORDERS[wanted.order]


# Only fixed text becomes SQL; what a person typed is bound.
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
