"""Trains what judges claims: ``python -m
recipes.claim_support DATA``.

A forest on what the reader says of a sentence and on the words that it shares with its passage and
with all that was retrieved. It learns from the rows of RAGulator's meta-classifiers and from
sentences of real answers that people judged, permissive ones that the reader did not learn from,
and is written where the scorers look for it.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import structlog

from recipes.data_sets import ANSWER_LICENCES, answer_rows
from recipes.ragulator import LICENCES, log_progress, shipped_pairs
from research.curation import CuratedPair
from research.ragulator_training.fit import (
    LabelledFeatures,
    fitted_one_way,
)
from safepassage.passages.index import PassageIndex
from safepassage.schemas import CLAIM_TYPE, hypothesis
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.forest import Forest
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.scorers.folders import open_manifest, open_reader
from safepassage.scoring_worker.weighing.claim_support import FEATURES, FILE, RISING, reading
from safepassage.scoring_worker.weighing.opinion import UNREAD, of_statement
from safepassage.scoring_worker.weighing.questions import parts_of

log = structlog.get_logger(__name__)

BLOCK = 64
DRAWS = 5


def claim_rows(data: Path) -> list[CuratedPair]:
    """What the forest learns from.

    Raises:
        CorpusError: a file of ``data`` is missing.
    """
    judged = [
        CuratedPair(
            id=str(row["id"]),
            context=row["context"],
            sentence=row["claim"],
            grounded=bool(row["label"]),
            group=f"{name}:{row.get('query') or row['id']}",
            kind="answer",
            source=name,
        )
        for name in ANSWER_LICENCES
        for row in answer_rows(data, name, taught=True)
    ]
    return [*shipped_pairs(data), *judged]


def claim_features(pairs: Sequence[CuratedPair], reader: Reader) -> list[LabelledFeatures]:
    """The features of every sentence that can be read, be it on no passage at all."""
    found = []
    for start in range(0, len(pairs), BLOCK):
        log_progress("sentences read", start, len(pairs))
        block = pairs[start : start + BLOCK]
        parts = [parts_of(_pair(one))[0] for one in block]
        asked = [at for at, part in enumerate(parts) if not part.unread]
        said = dict(zip(asked, reader.read([parts[at].claim for at in asked]), strict=True))
        for at, (one, part) in enumerate(zip(block, parts, strict=True)):
            read = said.get(at)
            if not isinstance(read, PairFailure):
                known = {**part.known, **reading(of_statement(read) if read else UNREAD)}
                features = {name: known[name] for name in FEATURES}
                found.append(LabelledFeatures(features, not one.grounded, one.group, one.source))
    return found


def _pair(one: CuratedPair) -> Pair:
    """The pair as the stream makes it of a claim."""
    alignment = PassageIndex(one.context).retrieve(one.sentence)
    said = hypothesis(CLAIM_TYPE, one.sentence)
    return Pair.at(alignment, hypothesis=said, entity_type=CLAIM_TYPE, value=one.sentence)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--scorer", default="default", help="a name or a folder")
    parser.add_argument("--out", type=Path, default=FILE)
    chosen = parser.parse_args(arguments)
    pairs = claim_rows(chosen.data)
    folder, manifest = open_manifest(chosen.scorer)
    forest = claims_forest(pairs, open_reader(manifest, folder))
    chosen.out.write_text(forest.model_dump_json() + "\n", encoding="utf-8")
    log.info("fitted", parameters=forest.parameters, measured=forest.measured)


def claims_forest(pairs: Sequence[CuratedPair], reader: Reader) -> Forest:
    """The forest for claims of scorers with ``reader``, from ``pairs`` that did not teach it."""
    return fitted_forest(claim_features(pairs, reader))


def fitted_forest(labelled: Sequence[LabelledFeatures]) -> Forest:
    """The forest of ``labelled`` sentences. Those of real answers weigh about as much as all the
    others: they are what is judged."""
    answers = [one for one in labelled if one.source in ANSWER_LICENCES]
    others = len(labelled) - len(answers)
    weighed = [*labelled, *answers * max(0, round(others / max(1, len(answers))) - 1)]
    licences = LICENCES | ANSWER_LICENCES
    licensed = [replace(one, source=f"{one.source} ({licences[one.source]})") for one in weighed]
    return fitted_one_way(FEATURES, RISING, licensed, log_progress, draws=DRAWS)


if __name__ == "__main__":
    main()
