"""What saturates first, at 1,000 partitions and 100 workers: a discrete-event model.

    python benchmarks/scale_model.py --align 283 --score 289.3 [--json FILE]
    python benchmarks/scale_model.py --bench FILE [--json FILE]
    python benchmarks/scale_model.py --bench FILE --per-day 1e7   # the workers that so many need
    python benchmarks/scale_model.py --minutes 60       # further seeds, and how far they differ

The unit is a document. It passes `extract` (calls of an LLM, some at once in each worker), `align`
and `score` (one core each; `score` takes what waits in batches). Partitions belong to workers as
range assignment gives them; documents fall on partitions by their key. Service times are what a
role did in a second of a core: given, or of the first run in a file of `safepassage bench` or of
`scale_run.py`. With that file the model is checked: it says what the workers of each run do, beside
what was seen; for that, the run must have been offered more than it could do.

The model knows no broker limit, no rebalance, no retry and no garbage collection: what it says is
the most that these roles can do.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import math
import random
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

EXTRACTIONS = 20  # of a document
STAGES = ("extract", "align", "score")
RAMP = 0.2  # of the documents, before the figures count
SHARE = 0.6  # of a worker's time, where workers are counted for a load
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Deployment:
    """Workers are cores. ``llm_seconds`` is the mean of one answer; ``align_seconds`` and
    ``score_seconds`` are of one extraction; ``batch_seconds`` what a batch costs beside."""

    partitions: int = 1_000
    extract: int = 20
    align: int = 20
    score: int = 60
    llm_calls: int = 16
    llm_seconds: float = 10.0
    align_seconds: float = 0.002
    score_seconds: float = 0.0035
    batch_seconds: float = 0.02
    batch: int = 512

    def workers(self, stage: str) -> int:
        return int(getattr(self, stage))

    def capacity(self, stage: str) -> float:
        """Documents a second, were the work spread evenly and batches full."""
        if stage == "extract":
            return self.extract * self.llm_calls / self.llm_seconds
        if stage == "align":
            return self.align / (EXTRACTIONS * self.align_seconds)
        batch = self.batch_seconds + self.batch * self.score_seconds
        return self.score * self.batch / EXTRACTIONS / batch


@dataclass(frozen=True, slots=True)
class Figures:
    """``per_second`` documents; ``p50`` and ``p99`` seconds from arrival to verdicts; ``busy`` the
    share of time that the workers of each role worked."""

    per_second: float
    p50: float
    p99: float
    busy: dict[str, float]

    @property
    def bottleneck(self) -> str:
        return max(self.busy, key=lambda stage: self.busy[stage])


@dataclass(slots=True)
class _Worker:
    waiting: deque[int] = field(default_factory=deque)
    running: int = 0
    busy: float = 0.0


class _Model:
    """Events in order of time: (time, number, call)."""

    def __init__(self, deployment: Deployment, seed: int) -> None:
        self.now = 0.0
        self.done: dict[int, float] = {}
        self._deployment = deployment
        self._draw = random.Random(seed)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self.workers = {
            stage: [_Worker() for _ in range(deployment.workers(stage))] for stage in STAGES
        }
        self._partition: dict[int, int] = {}

    def run(self, arrivals: list[float]) -> None:
        for document, at in enumerate(arrivals):
            self._partition[document] = self._draw.randrange(self._deployment.partitions)
            self._at(at, lambda document=document: self._arrive(0, document))
        while self._events:
            self.now, _, call = heapq.heappop(self._events)
            call()

    def _at(self, time: float, call: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._numbers), call))

    def _arrive(self, stage: int, document: int) -> None:
        if stage == len(STAGES):
            self.done[document] = self.now
            return
        own = self.workers[STAGES[stage]]
        # Workers beyond the partitions have none.
        used = min(len(own), self._deployment.partitions)
        worker = own[self._partition[document] * used // self._deployment.partitions]
        worker.waiting.append(document)
        self._begin(stage, worker)

    def _begin(self, stage: int, worker: _Worker) -> None:
        name, deployment = STAGES[stage], self._deployment
        at_once = deployment.llm_calls if name == "extract" else 1
        while worker.waiting and worker.running < at_once:
            most = max(1, deployment.batch // EXTRACTIONS) if name == "score" else 1
            taken = [worker.waiting.popleft() for _ in range(min(most, len(worker.waiting)))]
            seconds = self._seconds(name, len(taken))
            worker.running += 1
            worker.busy += seconds / at_once
            self._at(self.now + seconds, lambda taken=taken: self._end(stage, worker, taken))

    def _end(self, stage: int, worker: _Worker, taken: list[int]) -> None:
        worker.running -= 1
        for document in taken:
            self._arrive(stage + 1, document)
        self._begin(stage, worker)

    def _seconds(self, stage: str, documents: int) -> float:
        deployment, extractions = self._deployment, documents * EXTRACTIONS
        if stage == "extract":
            return self._draw.gammavariate(4, deployment.llm_seconds / 4)
        if stage == "align":
            return extractions * deployment.align_seconds
        return deployment.batch_seconds + extractions * deployment.score_seconds


def simulate(
    deployment: Deployment, per_second: float, documents: int = 10_000, seed: int = 1
) -> Figures:
    """``documents`` come at ``per_second``, at random moments."""
    draw = random.Random(f"arrivals {seed}")
    arrivals = list(itertools.accumulate(draw.expovariate(per_second) for _ in range(documents)))
    model = _Model(deployment, seed)
    model.run(arrivals)
    counted = range(int(RAMP * documents), documents)
    waits = sorted(model.done[one] - arrivals[one] for one in counted)
    ends = sorted(model.done.values())
    span = ends[-1] - ends[len(ends) - len(counted)]
    busy = {
        stage: statistics.fmean(worker.busy for worker in own) / model.now
        for stage, own in model.workers.items()
    }
    return Figures(len(counted) / span, waits[len(waits) // 2], waits[len(waits) * 99 // 100], busy)


def most_per_second(deployment: Deployment, documents: int = 10_000, seed: int = 1) -> Figures:
    """What comes out where more comes in than any role can do."""
    flood = 3 * min(deployment.capacity(stage) for stage in STAGES)
    return simulate(deployment, flood, documents, seed)


def variants(base: Deployment) -> dict[str, Deployment]:
    """One thing changed at a time."""
    return {
        "1,000 partitions, 100 workers": base,
        "100 partitions": replace(base, partitions=100),
        "64 partitions": replace(base, partitions=64),
        "LLM answers in 2 s": replace(base, llm_seconds=2.0),
        "LLM answers in 2 s, 64 calls a worker": replace(base, llm_seconds=2.0, llm_calls=64),
        "batches of 64": replace(base, llm_seconds=2.0, llm_calls=64, batch=64),
        "twice the score workers": replace(base, llm_seconds=2.0, llm_calls=64, score=120),
    }


def spread(base: Deployment, minutes: float, documents: int = 10_000) -> dict[str, list[Figures]]:
    """What each variant does under the seeds from 2 on, for so long, and at least one."""
    found: dict[str, list[Figures]] = {name: [] for name in variants(base)}
    until = time.monotonic() + 60 * minutes
    for seed in itertools.count(2):
        for name, deployment in variants(base).items():
            found[name].append(most_per_second(deployment, documents, seed))
        if time.monotonic() >= until:
            break
    return found


def calibrated(run: dict[str, Any], name: str = "cpu_seconds_per_record") -> Deployment:
    """Service times of a core in a run of `safepassage bench`; what a batch costs is in them."""
    of_role = _by_role(run, name)
    return Deployment(
        align_seconds=of_role["align"], score_seconds=of_role["score"], batch_seconds=0.0
    )


def _by_role(run: dict[str, Any], name: str) -> dict[str, float]:
    return {role["role"]: role[name] for role in run["roles"]}


def checked(run: dict[str, Any]) -> dict[str, float]:
    """Extractions a second that the model says one worker of each role judges, or so many of
    `score` as the run had, beside what `score` judged. The times are by the clock here: the roles
    of such a run share their cores with each other."""
    timed = calibrated(run, "seconds_per_record")
    count = run.get("score", 1)
    few = replace(timed, partitions=run.get("partitions", 4), extract=1, align=1, score=count)
    instant = replace(few, llm_seconds=1e-6, llm_calls=10_000)
    modelled = EXTRACTIONS * most_per_second(instant, 400 * count).per_second
    # Fewer are of documents that ended: a flood leaves each partition with a part of one.
    seen = _by_role(run, "records_per_second")["score"]
    return {"score": count, "modelled": modelled, "seen": seen, "error": modelled / seen - 1}


def needed(base: Deployment, per_second: float) -> Deployment:
    """Workers of each role for so many documents a second, each busy for `SHARE` of its time."""
    workers = {
        stage: math.ceil(per_second / (SHARE * base.capacity(stage) / base.workers(stage)))
        for stage in STAGES
    }
    # Range assignment gives some worker a partition more than others: with four each, a fifth.
    partitions = 4 * max(workers.values())
    return replace(base, partitions=partitions, **workers)


def for_day(base: Deployment, documents: float) -> dict[str, Any]:
    """What so many documents a day need, and how long one takes there."""
    deployment = needed(base, documents / DAY_SECONDS)
    found = simulate(deployment, documents / DAY_SECONDS, 50_000)
    workers = ", ".join(f"{deployment.workers(stage)} {stage}" for stage in STAGES)
    sys.stdout.write(
        f"{documents:,.0f} documents a day: {deployment.partitions} partitions, {workers}; p50 "
        f"{found.p50:.1f} s, p99 {found.p99:.1f} s\n"
    )
    return {"documents": documents, "deployment": asdict(deployment), **asdict(found)}


def main() -> None:
    """Print the table, and write the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bench", type=Path, help="of safepassage bench --json")
    parser.add_argument("--align", type=float, default=283.0, help="extractions a CPU second")
    parser.add_argument("--score", type=float, default=289.3, help="extractions a CPU second")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--per-day", type=float, help="documents for which to count workers")
    parser.add_argument("--minutes", type=float, default=0.0, help="further seeds for so long")
    options = parser.parse_args()
    measured = json.loads(options.bench.read_text("utf-8")) if options.bench else []
    runs = measured if isinstance(measured, list) else [measured]
    given = replace(Deployment(), align_seconds=1 / options.align, score_seconds=1 / options.score)
    base = calibrated(runs[0]) if runs else given
    day = for_day(base, options.per_day) if options.per_day else {}
    results = []
    for name, deployment in variants(base).items():
        most = most_per_second(deployment)
        at_half = simulate(deployment, most.per_second / 2)
        results.append(
            {
                "name": name,
                "documents_per_second": most.per_second,
                "bottleneck": most.bottleneck,
                "busy": most.busy,
                "p50_at_half": at_half.p50,
                "p99_at_half": at_half.p99,
            }
        )
        sys.stdout.write(
            f"{name:<40} {most.per_second:8.1f} documents/s, {most.bottleneck} first "
            f"({', '.join(f'{stage} {share:.0%}' for stage, share in most.busy.items())}); at half "
            f"of it p50 {at_half.p50:.1f} s, p99 {at_half.p99:.1f} s\n"
        )
    for name, under in spread(base, options.minutes).items() if options.minutes else ():
        rates = [figures.per_second for figures in under]
        first = sorted({figures.bottleneck for figures in under})
        sys.stdout.write(
            f"{name:<40} {len(under)} seeds: {min(rates):.1f} to {max(rates):.1f} documents/s, "
            f"{' or '.join(first)} first\n"
        )
    checks = [checked(run) for run in runs]
    for check in checks:
        sys.stdout.write(
            f"check, {check['score']:.0f} of score: {check['modelled']:.2f} extractions/s "
            f"modelled, {check['seen']:.2f} seen ({check['error']:+.0%})\n"
        )
    if options.json:
        figures = {"deployment": asdict(base), "variants": results, "checks": checks, "day": day}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
