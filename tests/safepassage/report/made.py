"""Documents and verdicts to look at."""

from __future__ import annotations

import re

from safepassage.agents.alignment import align
from safepassage.schemas import Document, Finding, SchemaField, Verdict
from safepassage.schemas.layout import Layout, PageSize, Region

HOSTILE = "</pre><script>document.title = 'taken'</script><img src=x onerror=alert(1)>"
TEXT = f"""LEASE

The Tenant shall pay a monthly rent of £1,250 on the first day of each month.
A deposit of £1,500 is held by the agent. {HOSTILE}
The lease begins on 1 June 2021 and runs for twelve months.
"""


def verdict(
    kind: str, value: str, quote: str, decision: str = "accepted", **said: object
) -> Verdict:
    score = {"accepted": 0.9, "quarantined": 0.1}.get(decision)
    reasons = {
        "quarantined": ("unsupported",),
        "undetermined": ("language_not_covered",),
    }.get(decision, ())
    return Verdict.model_validate(
        {
            "id": f"{kind} {value}",
            "doc_id": "lease",
            "extraction_id": f"{kind} {value}",
            "entity_type": kind,
            "value": value,
            "context": quote,
            "hypothesis": f"{kind}: {value}",
            "decision": decision,
            "reasons": reasons,
            "alignment": align(quote, TEXT),
            "score": score,
            "threshold": None if score is None else 0.45,
            "scorer": "words",
            "scorer_revision": "1",
        }
        | said
    )


VERDICTS = [
    verdict("Rent", "£1,250", "a monthly rent of £1,250"),
    verdict("Amount", "£1,500", "A deposit of £1,500", field=SchemaField(name="deposit.amount")),
    verdict(
        HOSTILE,
        HOSTILE,
        "The lease begins on 1 June 2021",
        "quarantined",
        findings=(Finding(code="date_differs", detail=HOSTILE),),
    ),
    verdict("Guarantor", "Ann", "∆∆∆ §§§ ###", "quarantined", reasons=("not_found",), score=None),
    verdict("Term", "twelve months", "runs for twelve months", "undetermined"),
]


def document(*, pages: bool = False) -> Document:
    return Document(id="lease", text=TEXT, layout=_layout() if pages else None)


def _layout() -> Layout:
    regions, y, start = [], 60.0, 0
    for line in TEXT.split("\n"):
        x = 60.0
        for word in re.finditer(r"\S+", line):
            wide = 5.0 * len(word.group())
            where = (start + word.start(), start + word.end())
            regions.append(Region(*where, 0, x, y, x + wide, y + 11))
            x += wide + 4
        start, y = start + len(line) + 1, y + 18
    return Layout(pages=(PageSize(900, 300),), regions=tuple(regions))
