"""``regime``: where judging answers by graphs works."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from research.experiments.operating_regime import PAPER, Band, Regime, operating_regime
from safepassage.scoring_worker.detectors.hallugraph.entailment import Entailment
from safepassage.scoring_worker.detectors.hallugraph.local_graphs import LocalExtractor
from safepassage.scoring_worker.loading import load_scorer
from safepassage.streams.cli.label_options import progress_bars
from safepassage.streams.cli.options import JsonFile
from safepassage.streams.cli.output import open_outputs, print_tables, write_figures

from .options import LabelledAnswers


def regime(
    datasets: LabelledAnswers,
    *,
    terms: Annotated[bool, typer.Option(help="Things without a name are entities, too.")] = True,
    limit: Annotated[int | None, typer.Option(help="The first so many of each.", min=1)] = None,
    json_file: JsonFile = None,
) -> None:
    """Measure the AUC by the length of answers and by how many entities they name."""
    open_outputs(files=[json_file])
    extractor = LocalExtractor(terms=terms)
    reads = Entailment(load_scorer())
    with progress_bars() as on_progress:
        measured = [
            operating_regime(
                path, extractor, entailment=reads, limit=limit, on_progress=on_progress
            )
            for path in datasets
        ]
    _show(measured)
    write_figures(json_file, measured)


def _show(measured: list[Regime]) -> None:
    tables = []
    for one in measured:
        title = escape(f"{one.dataset}, {one.extractor}")
        table = Table("answers", "n", "judged", "unsupported", "AUC", "95% interval", title=title)
        held_out = [one.fitted.held_out] if one.fitted else []
        for band in (
            one.whole, one.eg, one.rp, one.plain, *held_out, *one.by_words, *one.by_entities
        ):  # fmt: skip
            table.add_row(*_row(band))
        if one.fitted:
            table.caption = f"fitted: weight of EG {one.fitted.weight:g}, threshold "
            table.caption += f"{one.fitted.threshold:.2f}"
        tables.append(table)
    paper = Table("the paper's table 1", "HalluGraph", "BERTScore")
    for name, (ours, theirs) in PAPER.items():
        paper.add_row(name, f"{ours:.2f}", f"{theirs:.2f}")
    print_tables([*tables, paper])


def _row(band: Band) -> tuple[str, ...]:
    auc = "-" if band.auc is None else f"{band.auc:.3f}"
    interval = "-" if band.interval is None else "[{:.3f}, {:.3f}]".format(*band.interval)
    counts = map(str, (band.answers, band.judged, band.unsupported))
    return (band.name, *counts, auc, interval)
