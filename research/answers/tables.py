"""The table of detectors by source, with RAGulator's figures below."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter
from rich.table import Table

from safepassage.schemas.base import Contract

from .report import OVERALL, AnswersReport

Figures = tuple[float, float, float]


class Published(Contract):
    """What the paper prints of one detector: figures by source, and sentences a second."""

    detector: str
    overall: Figures
    pubmed: Figures
    mrpc: Figures
    snli: Figures
    sentences_per_second: float


PUBLISHED: Final = TypeAdapter(tuple[Published, ...]).validate_json(
    Path(__file__).with_name("published.json").read_bytes()
)


_HEADS = ("source", "detector", "n", "out of context", "AUROC", "95%", "AUPRC", "F1",
          "span F1", "undetermined", "sentences/s")  # fmt: skip
_STANDS_FOR = {"pubmedqa": "pubmed", "mrpc": "mrpc", "SNLI": "snli", OVERALL: "overall"}


def table(report: AnswersReport) -> Table:
    """One table: measured rows by source, and under each source what the paper printed of it.

    All proportions in per cent; "out of context" is the positive class.
    """
    made = Table(*_HEADS, title="Detectors of what is out of context")
    for source in dict.fromkeys(one.source for one in report.results):
        for one in report.results:
            if one.source != source:
                continue
            low_high = one.auroc_ci
            made.add_row(
                source,
                one.detector,
                str(one.n),
                str(one.out_of_context),
                _percent(one.auroc),
                f"{low_high[0] * 100:.1f}–{low_high[1] * 100:.1f}" if low_high else "",
                _percent(one.auprc),
                _percent(one.f1),
                _percent(one.span_f1),
                str(one.undetermined),
                f"{one.sentences_per_second:.1f}" if one.sentences_per_second else "",
            )
        for row in _published(source):
            made.add_row(*row, style="dim")
        made.add_section()
    return made


def _published(source: str) -> Iterator[tuple[str, ...]]:
    """What the paper printed of the set that ``source`` is, or takes the place of."""
    name = _STANDS_FOR.get(source)
    if name is None:
        return
    for one in PUBLISHED:
        auroc, auprc, f1 = _figures(one, name)
        speed = f"{one.sentences_per_second:.1f}"
        detector = f"paper: {one.detector}"
        yield (source, detector, "", "", f"{auroc}", "", f"{auprc}", f"{f1}", "", "", speed)


def _figures(one: Published, name: str) -> tuple[float, float, float]:
    found: tuple[float, float, float] = getattr(one, name)
    return found


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value * 100:.1f}"
