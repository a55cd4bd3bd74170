"""Trains the meta-classifiers that ship.

``python -m recipes.ragulator DATA FOLDER``

They learn from permissive sets only, and from rows that the default scorer did not learn from:
development rows of NLI sets among noise sentences, and sentences of Wikipedia articles (Re-DocRED)
against their own and an unrelated article. SNLI, MRPC, PubMedQA and all groundedness sets stay out
of it: they measure. Measured features are kept in FOLDER, so a run that was stopped goes on.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import structlog

from research.curation import (
    Bounds,
    CuratedPair,
    SimilarPair,
    Summary,
    from_similar,
    from_summaries,
    read_similar,
)
from research.ragulator_training.feature_files import labelled_features
from research.ragulator_training.fit import MODELS, Model, fitted
from safepassage.passages.sentence_splitting import sentences
from safepassage.scoring_worker.detectors.ragulator.measurement import ClaimMeasure
from safepassage.scoring_worker.detectors.ragulator.word_vectors import word_vectors
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.training.corpora import read_rows

log = structlog.get_logger(__name__)

LICENCES: Final = {
    "MultiNLI": "permissive per genre",
    "SciTail": "SciTail",
    "RTE-GLUE": "RTE",
    "RTE1-3": "RTE",
    "HANS": "MIT",
    "Re-DocRED": "MIT",
}
_NLI_ROWS: Final = {"MultiNLI": 1_500, "SciTail": 400, "RTE-GLUE": 300, "RTE1-3": 300, "HANS": 150}
"""HANS has thirty templates: more rows of it would teach these."""
_KEPT_ROWS = 600
_ARTICLES = 200
_ARTICLE_BOUNDS: Final = Bounds(context=(50, 5_000))
FILES: Final[dict[Model, str]] = {
    "lightgbm": "ragulator-lightgbm.json",
    "random-forest": "ragulator-random-forest.json",
    "extended": "forest.json",
}


def shipped_pairs(data: Path, seed: int = 0) -> Iterator[CuratedPair]:
    """The pairs that what ships learns from.

    Raises:
        CorpusError: a file of ``data`` is missing.
    """
    rng = random.Random(seed)
    rows = list(read_rows(data / "nli/dev.jsonl.gz"))
    for source, most in _NLI_ROWS.items():
        mine = [row for row in rows if row["source"] == source]
        rng.shuffle(mine)
        read = (read_similar(row, number) for number, row in enumerate(mine[:most]))
        pairs = [_strict(pair) for pair in read if pair]
        yield from list(from_similar(pairs, source, seed))[:_KEPT_ROWS]
    articles = list(_articles(data, rng))[:_ARTICLES]
    yield from from_summaries(articles, "Re-DocRED", seed, _ARTICLE_BOUNDS)


def _strict(pair: SimilarPair) -> SimilarPair:
    """Neutral counts as out of context: of an answer that nothing supports, most is neutral."""
    return replace(pair, grounded=bool(pair.grounded))


def _articles(data: Path, rng: random.Random) -> Iterator[Summary]:
    """Articles with one of their own sentences as the abstract: extractive, as BBC's are."""
    for number, row in enumerate(read_rows(data / "triples/redocred.jsonl.gz")):
        text = row["text"]
        places = list(sentences(text))
        if len(places) >= 4:
            start, end = places[rng.randrange(1, len(places))]
            yield Summary(f"article-{number}", text, text[start:end])


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    pairs = list(shipped_pairs(chosen.data))
    log.info("pairs", count=len(pairs), out_of_context=sum(not pair.grounded for pair in pairs))
    measure = ClaimMeasure(word_vectors(), load_scorer("small", packs=[]))
    labelled = labelled_features(pairs, measure, chosen.folder / "features.jsonl", log_progress)
    licensed = [replace(one, source=f"{one.source} ({LICENCES[one.source]})") for one in labelled]
    for model in MODELS:
        forest = fitted(model, licensed, log_progress)
        forest = forest.model_copy(update={"measures": measure.measures})
        path = chosen.folder / FILES[model]
        path.write_text(forest.model_dump_json() + "\n", encoding="utf-8")
        log.info("fitted", model=model, parameters=forest.parameters, measured=forest.measured)


def log_progress(stage: str, done: int, total: int) -> None:
    """How far a step of a recipe is, as a line of the log."""
    log.info(stage, done=done, of=total)


if __name__ == "__main__":
    main()
