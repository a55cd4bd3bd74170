"""How long callers wait for a sentence's judgement where many ask at once, on the CPU.

    python benchmarks/claims_load.py ANSWERS [--detector NAME] [--rate 100] [--seconds 60] [--whole]

Requests come at random moments at a steady mean rate, whether or not the last was answered; a
request is one sentence of a labelled answer with its context, or the answer (``--whole``). All of
them share one scorer through `SharedBatches`, as ``safepassage serve`` does: without a detector
they are claims of a `Verifier`, with one the detector's scorer is the shared one. The wait is from
the moment a request comes. Wanted at 100 a minute: p99 under 500 ms a sentence.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from research.answers.sets import read_sets
from safepassage import Verifier
from safepassage.batches import SharedBatches
from safepassage.passages.granularity import claims
from safepassage.schemas import Assessment
from safepassage.scoring_worker import Pair, Scorer, load_scorer
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.ragulator.measurement import ClaimMeasure
from safepassage.scoring_worker.detectors.ragulator.meta_classifiers import SHIPPED, MetaClassifier
from safepassage.scoring_worker.detectors.ragulator.word_vectors import word_vectors
from safepassage.scoring_worker.forest import Forest

WARM = 3
CALLERS = 32


class Shared:
    """A scorer that is asked through the batches of all callers."""

    def __init__(self, scorer: Scorer) -> None:
        self.name, self.revision = scorer.name, scorer.revision
        self.batches = SharedBatches(scorer)
        self._scorer = scorer

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        return self.batches.assess(pairs) if pairs else []

    def close(self) -> None:
        self.batches.close()
        self._scorer.close()


@dataclass(frozen=True)
class Asked:
    answer: Answer
    sentences: int


def requests(path: Path, whole: bool) -> list[Asked]:
    """The answers of a file, or all of their sentences one by one, in a shuffled order."""
    [found] = read_sets([path])
    asked = []
    for case in found.cases:
        text = case.answer.response
        places = claims(text)
        if whole:
            asked.append(Asked(case.answer, max(1, len(places))))
        else:
            one = [replace(case.answer, response=text[start:end]) for start, end in places]
            asked += [Asked(answer, 1) for answer in one]
    random.Random(0).shuffle(asked)
    return asked


def opened(
    detector: str | None, sizes: list[int]
) -> tuple[Callable[[Answer], object], Callable[[], None]]:
    """What judges an answer in a thread, and what closes it; ``sizes`` hears of each batch."""
    if detector is None:
        verifier = Verifier()
        verifier.batches.observe = sizes.append
        return lambda answer: verifier.claims(answer.context, answer.response), verifier.close
    shared = Shared(load_scorer())
    shared.batches.observe = sizes.append
    forest = Forest.load(SHIPPED)
    judge = MetaClassifier(detector, forest, ClaimMeasure(word_vectors(), shared))
    return lambda answer: judge.ground([answer]), judge.close


async def load(
    judge: Callable[[Answer], object], asked: Sequence[Asked], rate: float, seconds: float
) -> list[tuple[float, int]]:
    """Seconds that each request waited, and its sentences."""
    gaps, loop = random.Random(1), asyncio.get_running_loop()
    waited: list[tuple[float, int]] = []

    async def one(request: Asked, due: float) -> None:
        await loop.run_in_executor(callers, judge, request.answer)
        waited.append((time.perf_counter() - due, request.sentences))

    with ThreadPoolExecutor(CALLERS) as callers:
        running = []
        due = started = time.perf_counter()
        for number in range(len(asked)):
            due += gaps.expovariate(rate / 60)
            if due > started + seconds:
                break
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            running.append(asyncio.create_task(one(asked[number], due)))
        await asyncio.gather(*running)
    return waited


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("answers", type=Path)
    parser.add_argument("--detector", choices=["ragulator"])
    parser.add_argument("--rate", type=float, default=100.0, help="requests a minute")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--whole", action="store_true", help="a request is a whole answer")
    given = parser.parse_args()
    asked = requests(given.answers, given.whole)
    sizes: list[int] = []
    judge, close = opened(given.detector, sizes)
    for request in asked[:WARM]:
        judge(request.answer)
    sizes.clear()
    before, cpu = os.getloadavg()[0], time.process_time()
    waited = asyncio.run(load(judge, asked[WARM:], given.rate, given.seconds))
    cpu = time.process_time() - cpu
    close()
    sentences = sum(count for _, count in waited)
    by_request = [1000 * wait for wait, _ in waited]
    by_sentence = [1000 * wait / count for wait, count in waited]
    figures = {
        "judge": given.detector or "default",
        "requests": len(waited),
        "sentences": sentences,
        "p50_ms_request": round(float(np.percentile(by_request, 50))),
        "p99_ms_request": round(float(np.percentile(by_request, 99))),
        "p50_ms_sentence": round(float(np.percentile(by_sentence, 50))),
        "p99_ms_sentence": round(float(np.percentile(by_sentence, 99))),
        "pairs_a_batch": round(float(np.mean(sizes)), 2),
        "cpu_ms_sentence": round(1000 * cpu / sentences),
        "load_average": [round(before, 1), round(os.getloadavg()[0], 1)],
        "cores": os.cpu_count(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
