"""What a scorer makes of labelled pairs, kept in a file: a recipe that was stopped goes on."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import structlog

from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.training.judged_pairs import (
    Judged,
    read_judged,
    write_judged,
)

log = structlog.get_logger(__name__)


def judged_once(
    path: Path,
    scorer: Callable[[], DefaultScorer],
    pairs: Callable[[], Mapping[str, Sequence[LabelledPair]]],
) -> dict[str, Judged]:
    """By source what ``scorer`` makes of ``pairs``; what ``path`` holds is believed.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    if not path.exists():
        asked = pairs()
        log.info("opinions", path=path.name, pairs=sum(map(len, asked.values())))
        by = scorer()
        write_judged(path, {name: Judged.by(by, own) for name, own in asked.items() if own})
    return read_judged(path)
