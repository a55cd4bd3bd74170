"""What a second judge is worth, asked in one order or another, on the natural errors of LLMs.

``python -m benchmarks.order_of_asking ../shared/data`` prints, for each share that is asked, the
shares of the wrong and of the right values that are stopped. The second judge is not run: it stops
.92 of the wrong and .09 of the right, as a person did who read 252 such rows. `default` was
improved on these rows: they are a development set.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.general_sets import natural_cases
from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.scorers.cascade import asking_score, doubt_of, no_doubt
from safepassage.scoring_worker.training.corpora import read_rows

SHARES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
STOPS_WRONG, STOPS_RIGHT = 0.92, 0.09
"""What the second judge stops, on average."""


def main(data: Path) -> None:
    """Print the table."""
    general = data / "general"
    names = sorted({row["source"] for row in read_rows(general / "natural_extractions.jsonl.gz")})
    cases = [case for name in names for case in natural_cases(general, name)]
    pairs = [case.pairs[0] for case in cases]
    said = load_scorer(device="cpu").assess(pairs)
    right = np.array([case.label == 1 for case in cases])
    passes = np.array(
        [a.passes and not any(f.contradicts for f in a.findings) for a in said], dtype=bool
    )
    limits = np.array([a.threshold or 0.0 for a in said])
    print("share asked".ljust(34) + "".join(f"{share:12.0%}" for share in SHARES))
    for name, doubt in (("nearest the threshold", no_doubt), ("the same, less doubts", doubt_of)):
        found = [asking_score(pair, one, doubt) for pair, one in zip(pairs, said, strict=True)]
        scores = np.array([np.nan if one is None else one for one in found])
        print(name.ljust(34) + "".join(_cells(-np.abs(scores - limits), passes, right)))
    first = np.where(passes, 1.0, 0.0) - np.abs(np.array([a.score or 0.0 for a in said]) - limits)
    print("what passes, lowest first".ljust(34) + "".join(_cells(first, passes, right)))


def _cells(
    order: NDArray[np.float64], passes: NDArray[np.bool_], right: NDArray[np.bool_]
) -> list[str]:
    """Shares of the wrong and of the right that are stopped; NaN in ``order`` is never asked."""
    ranked = np.argsort(-np.nan_to_num(order, nan=-np.inf), kind="stable")
    cells = []
    for share in SHARES:
        asked = np.zeros(len(order), dtype=bool)
        asked[ranked[: int(share * len(order))]] = True
        asked &= np.isfinite(order)
        stopped = np.where(asked, np.where(right, STOPS_RIGHT, STOPS_WRONG), ~passes)
        cells.append(f"{stopped[~right].mean():.2f}/{stopped[right].mean():.2f}".rjust(12))
    return cells


if __name__ == "__main__":
    main(Path(sys.argv[1]))
