"""What the judge reads of extractions, and the CPU seconds that it takes.

    python benchmarks/readings.py DOCUMENTS EXTRACTIONS [--schema S]

Files are as `safepassage check` takes them. Readings and their tokens are the same on any machine,
CPU seconds depend on who else uses the cores: compare two versions in turn, by their quotient.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from safepassage.pipeline import align_all, judge_in_batches, new_aligner
from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.encoders.batching import Piece
from safepassage.scoring_worker.encoders.packed import PackedTrunk
from safepassage.streams.cli.options import fields_of
from safepassage.streams.offline.check import read_input
from safepassage.streams.settings import settings


def main() -> None:
    """Judge the extractions and print what was read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("documents", type=Path)
    parser.add_argument("extractions", type=Path)
    parser.add_argument("--schema")
    options = parser.parse_args()
    fields = fields_of(options.schema) if options.schema else None
    given = read_input([options.documents], [options.extractions], (), settings(), fields)
    scorer = load_scorer("default", threads=1)
    aligned = align_all(given.extractions, given.documents, new_aligner(settings()))
    read: Counter[str] = Counter()
    PackedTrunk.hidden = _counted(PackedTrunk.hidden, read)  # type: ignore[method-assign]
    started = time.process_time()
    count = len(list(judge_in_batches(aligned, scorer.assess)))
    used, start = time.process_time() - started, started
    print(f"{count} extractions, {read['pieces'] / count:.2f} readings each")
    print(f"{read['tokens'] / count:.0f} tokens each, {count / used:.1f} a CPU second")
    print(f"start {start:.1f} CPU seconds, with it {count / (start + used):.1f} a CPU second")


def _counted(hidden: Callable[..., Any], read: Counter[str]) -> Callable[..., Any]:
    def counted(trunk: PackedTrunk, tile: Sequence[Piece]) -> Any:
        read["pieces"] += len(tile)
        read["tokens"] += sum(map(len, tile))
        return hidden(trunk, tile)

    return counted


if __name__ == "__main__":
    main()
