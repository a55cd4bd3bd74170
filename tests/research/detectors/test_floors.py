"""Quality floors: how well each local detector tells real sentences from those of other articles.

Conclusions of PubMedQA abstracts against their own and an unrelated abstract. A floor lies .05
below the AUROC that was measured when it was written, so that a regression is seen and the noise of
another library version is not. The sample is small, to be quick: `docs/measured/detectors.md` has
the figures.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from research.curation import from_summaries, read_summary
from research.detectors.registry import load_detector
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.training.corpora import read_rows

DATA = Path(__file__).parents[4] / "shared" / "data" / "ragulator" / "pubmedqa.jsonl.gz"
SENTENCES = 24
FLOORS = {
    "default": 0.90,
    "ragulator-lightgbm": 0.86,
    "ragulator-random-forest": 0.85,
    "ragulator": 0.80,
    "token_precision": 0.92,
    "unigram_perplexity": 0.74,
    "bigram_perplexity": 0.48,
    "missing_words": 0.76,
    "hallugraph": 0.83,
    "quip": 0.74,
}
"""Those that embed or read every sentence of a context are too slow for a default test."""


@pytest.fixture(scope="module")
def sample():
    """The same sentences each time, as many grounded as not."""
    if not DATA.exists():
        pytest.skip("../shared/data/ragulator is absent")
    read = (read_summary(row, number) for number, row in enumerate(read_rows(DATA)))
    summaries = list(islice((one for one in read if one), 3 * SENTENCES))
    pairs = list(from_summaries(summaries, "PubMedQA", 0))
    half = SENTENCES // 2
    right = [pair for pair in pairs if pair.grounded][:half]
    wrong = [pair for pair in pairs if not pair.grounded][:half]
    return [*right, *wrong]


@pytest.mark.parametrize("name", FLOORS)
def test_no_detector_falls_below_its_floor(name, sample):
    detector = load_detector(name, DetectorSettings(device="cpu"))
    found = detector.ground([Answer((pair.context,), pair.sentence) for pair in sample])
    detector.close()
    # What could not be judged ranks as the most doubtful, as the guardrail stops it.
    doubt = [1.0 if one.score is None else -one.score for one in found]
    ranking = Ranking([not pair.grounded for pair in sample], doubt)
    auroc = ranking.auroc(np.ones(len(sample)))
    assert auroc >= FLOORS[name]
