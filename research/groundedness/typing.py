"""How far those who type errors agree with labels and with each other (paper, section 8)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from rich.table import Table

from research.adaptation.files import labelled_twins
from research.adaptation.twins import differing
from research.error_types.contract import StoppedClaim
from safepassage.schemas.base import Contract
from safepassage.schemas.error_type import ERROR_TYPES, ErrorType, ErrorTyping
from safepassage.schemas.proportion import Proportion
from safepassage.scoring_worker.evaluation.intervals import Interval
from safepassage.scoring_worker.evaluation.kappa import cohens_kappa
from safepassage.scoring_worker.evaluation.result_tables import (
    number,
    terminal_table,
    with_interval,
)

UNTYPED = "untyped"


@dataclass(frozen=True, slots=True)
class LabelledError:
    """An altered sentence, what it rested on, and the type that was asked for."""

    stopped: StoppedClaim
    error_type: ErrorType


class TyperAgreement(Contract):
    """``exact``: the same types; ``overlapping``: at least one in common, both as shares of ``n``
    errors that both typed, with 95% intervals. ``kappa`` is Cohen's, of the first types."""

    one: str
    other: str
    n: int
    exact: float | None
    exact_ci: Interval
    overlapping: float | None
    overlapping_ci: Interval
    kappa: float | None


class TypingReport(Contract):
    """``confusion``: by typer, by the type asked for, how often each first type was said."""

    version: Literal[1] = 1
    n: int
    agreements: tuple[TyperAgreement, ...]
    confusion: dict[str, dict[str, dict[str, int]]]


def labelled_errors(path: Path) -> list[LabelledError]:
    """The altered sentences of a file of twins, each against the whole context.

    Raises:
        CorpusError: the file has no such row.
    """
    return [
        LabelledError(StoppedClaim(altered, "\n\n".join(one.context)), one.error_type)
        for one in labelled_twins(path)
        for _, altered in differing(one.grounded, one.altered)
    ]


def compared(
    errors: Sequence[LabelledError], said: Mapping[str, Sequence[ErrorTyping | None]]
) -> TypingReport:
    """Every typer against the labels, and each two against each other."""
    told: dict[str, list[tuple[ErrorType, ...]]] = {
        name: [one.types if one else () for one in typed] for name, typed in said.items()
    }
    told["label"] = [(error.error_type,) for error in errors]
    pairs = [*((name, "label") for name in said), *combinations(said, 2)]
    return TypingReport(
        n=len(errors),
        agreements=tuple(_agreement(one, other, told) for one, other in pairs),
        confusion={name: _confusion(errors, told[name]) for name in said},
    )


def confusion_tables(report: TypingReport) -> list[Table]:
    """How far they agree, and of each typer which types it takes for which."""
    agreed = [
        (
            f"{one.one} and {one.other}",
            str(one.n),
            with_interval(one.exact, one.exact_ci),
            with_interval(one.overlapping, one.overlapping_ci),
            number(one.kappa, 3),
        )
        for one in report.agreements
    ]
    columns = ("who", "n", "same types", "one in common", "kappa")
    tables = [terminal_table(f"Error types of {report.n} sentences", columns, agreed, "")]
    shown = (*ERROR_TYPES, UNTYPED)
    for name, rows in report.confusion.items():
        cells = [
            (kind.replace("_", " "), *(str(rows[kind].get(said, 0)) for said in shown))
            for kind in ERROR_TYPES
            if kind in rows
        ]
        heads = ("label", *(kind.split("_")[0] for kind in shown))
        tables.append(terminal_table(f"What {name} says", heads, cells, "First types."))
    return tables


def _agreement(
    one: str, other: str, told: Mapping[str, Sequence[tuple[ErrorType, ...]]]
) -> TyperAgreement:
    both = [(a, b) for a, b in zip(told[one], told[other], strict=True) if a and b]
    exact = Proportion(sum(set(a) == set(b) for a, b in both), len(both))
    common = Proportion(sum(bool(set(a) & set(b)) for a, b in both), len(both))
    firsts = [(ERROR_TYPES.index(a[0]), ERROR_TYPES.index(b[0])) for a, b in both]
    return TyperAgreement(
        one=one,
        other=other,
        n=len(both),
        exact=exact.share,
        exact_ci=exact.interval,
        overlapping=common.share,
        overlapping_ci=common.interval,
        kappa=cohens_kappa(firsts),
    )


def _confusion(
    errors: Sequence[LabelledError], typed: Sequence[tuple[ErrorType, ...]]
) -> dict[str, dict[str, int]]:
    rows: dict[str, Counter[str]] = {}
    for error, types in zip(errors, typed, strict=True):
        rows.setdefault(error.error_type, Counter())[types[0] if types else UNTYPED] += 1
    return {kind: dict(sorted(row.items())) for kind, row in sorted(rows.items())}
