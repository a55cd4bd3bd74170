"""Fits how much the memory's vote counts, on sources that taught the reader nothing.

    python -m recipes.memory_weights DATA OUT [--keep FOLDER]

Every source is played through: some of its documents are reviewed, of which the memory is made, and
the values of the others are judged with it. The stack's log-odds stay as they are; the weights of
the vote's features are fitted by logistic regression on top of them, none below zero: a vote for a
value must not lower it. Natural errors of LLMs only measure (``benchmarks/memory.py``).

Fitted with both shipped readers: `large` on the sources that its stack was fitted on, `small` on
languages and fields that it was never taught. All may train what ships.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray
from pydantic import Field
from scipy.optimize import minimize

from recipes.large_scorer import LEFT_OUT
from recipes.stack_pairs import slot_pairs
from safepassage.schemas.base import Contract
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.memory.learning import remembering
from safepassage.scoring_worker.memory.nearest_votes import NEAREST, Neighbour, vote_features
from safepassage.scoring_worker.memory.states import Bytes, States, read, written
from safepassage.scoring_worker.memory.weights import WEIGHTS, MemoryWeights

log = structlog.get_logger(__name__)

SOURCES: Mapping[str, tuple[str, ...]] = {
    "large": LEFT_OUT[:3],  # of the other two a type has one value: there is nothing to remember
    "small": ("europeana_nl", "europeana_fr", "uner_pt", "recognizers", "xsid"),
}
ROWS = 200
SIZES = (25, 50, 100)
DRAWS = 8
FEATURES = ("vote", "beyond", "vote_nearest", "beyond_nearest", "vote_many", "beyond_many")
RIDGE = 3e-3
BOUND = 2.0
"""The most that votes move the log-odds: a value at .5 comes to .88 or .12 at most, and one at .98,
of which the scorer is sure, stays above .85."""
ALONE = 1.0
"""The same where one person reviewed the type. All that 100 right labels gain is kept (natural
errors of GPT-4o and Llama: AUROC .683 → .743, for .747 at `BOUND`), and 100 wrong ones do less harm
(.510, for .440)."""
REVIEWER = "simulated"

Floats = NDArray[np.float64]


class TracedRow(Contract):
    """A labelled value and what it leaves in a memory; without a ``state`` it is decided before a
    memory is asked. ``group`` is its document."""

    group: str
    label: int = Field(ge=0, le=1)
    entity_type: str = ""
    shape: str = ""
    state: str | None = None
    log_odds: float = 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """Values judged beside a memory: labels and the stack's log-odds [values], and the features of
    the vote by name. ``decided`` marks those that no memory is asked about."""

    labels: NDArray[np.int64]
    log_odds: Floats
    decided: NDArray[np.bool_]
    features: Mapping[str, Floats]

    def shifts(self, weights: MemoryWeights) -> Floats:
        """What the memory adds [values]."""
        names = sorted(self.features)
        columns = zip(*(self.features[name] for name in names), strict=True)
        said = (dict(zip(names, map(float, row), strict=True)) for row in columns)
        return np.array([weights.shift(features, 1) for features in said])


def traced(pairs: Sequence[LabelledPair], scorer_name: str) -> list[TracedRow]:
    """What the values of ``pairs`` would leave in the memory of the scorer of that name.

    Raises:
        ValueError: it has no memory.
    """
    scorer = load_scorer(scorer_name)
    remembers = remembering(scorer)
    if remembers is None:
        raise ValueError(f"scorer {scorer_name!r} has no memory")
    rows = []
    for pair, left in zip(pairs, remembers.traces([p.pair for p in pairs]), strict=True):
        row = TracedRow(group=pair.group, label=pair.label)
        if len(left) == 1:
            [trace] = left
            row = TracedRow(
                group=pair.group,
                label=pair.label,
                entity_type=trace.part.casefold(),
                shape=trace.shape,
                state=written(trace.state),
                log_odds=trace.log_odds,
            )
        rows.append(row)
    scorer.close()
    return rows


def trials(
    rows: Sequence[TracedRow], size: int, draws: int = DRAWS, *, seed: int = 0, apart: int = 0
) -> Iterator[Trial]:
    """``draws`` trials in which the memory holds ``size`` rows. Rows of their documents are not
    judged, nor are those of as many documents as hold ``apart`` rows: so memories of several sizes
    are compared on the same rows."""
    groups: dict[str, list[TracedRow]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    for draw in range(draws):
        names = sorted(groups)
        random.Random(f"{seed}:{draw}").shuffle(names)
        reviewed: list[TracedRow] = []
        while names and len(reviewed) < max(size, apart):
            reviewed += groups[names.pop()]
        judged = [row for name in sorted(names) for row in groups[name]]
        if judged:
            yield _trial(reviewed[:size], judged)


def _trial(reviewed: Sequence[TracedRow], judged: Sequence[TracedRow]) -> Trial:
    memory: dict[tuple[str, str], list[TracedRow]] = defaultdict(list)
    for row in reviewed:
        if row.state is not None:
            memory[row.entity_type, row.shape].append(row)
    states = {key: States([read(row.state or "") for row in own]) for key, own in memory.items()}
    features = []
    for row in judged:
        key = (row.entity_type, row.shape)
        own = memory.get(key, []) if row.state is not None else []
        near = _nearest(read(row.state), own, states[key]) if own and row.state else []
        features.append(vote_features({REVIEWER: near}, len(own)))
    return Trial(
        labels=np.array([row.label for row in judged]),
        log_odds=np.array([row.log_odds for row in judged]),
        decided=np.array([row.state is None for row in judged]),
        features={name: np.array([one[name] for one in features]) for name in FEATURES},
    )


def _nearest(state: Bytes, own: Sequence[TracedRow], states: States) -> list[Neighbour]:
    likeness = states.likeness(state)
    return [
        Neighbour(
            float(likeness[at]),
            REVIEWER,
            bool(own[at].label),
            float(1.0 / (1.0 + np.exp(-own[at].log_odds))),
        )
        for at in np.argsort(-likeness, kind="stable")[:NEAREST]
    ]


def fit_weights(
    by_source: Mapping[str, Sequence[Trial]],
    features: Sequence[str] = FEATURES,
    *,
    ridge: float = RIDGE,
) -> MemoryWeights:
    """The weights with the least loss beside the stack's log-odds; every source counts the same."""
    columns, offsets, signs, weights = [], [], [], []
    for source in sorted(by_source):
        own = [_asked(trial, features) for trial in by_source[source]]
        count = sum(len(signs_) for _, _, signs_ in own) or 1
        for matrix, odds, signs_ in own:
            columns.append(matrix)
            offsets.append(odds)
            signs.append(signs_)
            weights.append(np.full(len(signs_), 1.0 / (count * len(by_source))))
    x, offset, sign, weight = map(np.concatenate, (columns, offsets, signs, weights))

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = sign * (offset + x @ point)
        value = float(weight @ np.logaddexp(0.0, -margins) + ridge * (point @ point))
        pull = -weight * sign / (1.0 + np.exp(np.clip(margins, -500, 500)))
        return value, x.T @ pull + 2 * ridge * point

    start = np.zeros(len(features))
    bounds = [(0.0, None)] * len(features)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    kept = {n: round(float(w), 3) for n, w in zip(features, found.x, strict=True) if w > 5e-3}
    sources = tuple(sorted(by_source))
    return MemoryWeights(weights=kept, bound=BOUND, alone=ALONE, fitted_on=sources)


def _asked(trial: Trial, features: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """Features, log-odds and signs of the values that some memory speaks of."""
    matrix = np.stack([trial.features[name] for name in features], axis=1)
    spoken = ~trial.decided & (np.abs(matrix).sum(axis=1) > 0)
    return matrix[spoken], trial.log_odds[spoken], 2.0 * trial.labels[spoken] - 1.0


def kept_rows(
    keep: Path | None, name: str, pairs: Sequence[LabelledPair], scorer: str
) -> list[TracedRow]:
    """`traced`, or what an earlier run left in the folder ``keep``."""
    path = keep / f"{scorer}-{name}.jsonl" if keep else None
    if path and path.exists():
        return [TracedRow.model_validate_json(line) for line in path.read_bytes().splitlines()]
    rows = traced(pairs, scorer)
    log.info("traced", source=name, scorer=scorer, rows=len(rows))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{row.model_dump_json()}\n" for row in rows), encoding="utf-8")
    return rows


def main() -> None:
    """Trace every source, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path, nargs="?", default=WEIGHTS)
    parser.add_argument("--keep", type=Path, help="where what scorers made of the rows stays")
    options = parser.parse_args()
    by_source = {
        f"{name} ({scorer})": [
            trial
            for size in SIZES
            for trial in trials(
                kept_rows(options.keep, name, slot_pairs(options.data, name, ROWS), scorer), size
            )
        ]
        for scorer, names in SOURCES.items()
        for name in names
    }
    weights = fit_weights(by_source)
    options.out.write_text(weights.model_dump_json(indent=2) + "\n", encoding="utf-8")
    log.info("written", out=str(options.out), **weights.weights)


if __name__ == "__main__":
    main()
