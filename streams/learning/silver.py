"""Silver labels before anybody reviewed: the LLM grader judges a sample of the stream's extractions
and of their corruptions. They teach; only reviews certify.

The corruption of an extraction has the value of another one: of another field of its document, if
that value is in the passage, else of the same field in another document. The grader says what
it is worth: a value of another field may be right by chance.
"""

import random
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from safepassage.schemas import AlignedExtraction, hypothesis, render_value
from safepassage.schemas.jsonl import BadLine, read_jsonl, read_objects
from safepassage.scoring_worker import Pair, Scorer
from safepassage.scoring_worker.evaluation.cases import labelled_pair
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair

from ..kafka.reading import read_topics, tails
from ..kafka.records import event_of
from ..settings import Settings
from ..topics import ALIGNMENTS

SAMPLE, GRADED = "sample.jsonl", "graded.jsonl"
AT_ONCE = 32
CORRUPTED_SHARE = 0.5
FEWEST_DRAWN = 20  # Extractions below which it is too early
RECORDS = 4  # Records of each partition that are read for each label that is wanted, at most


async def sample(settings: Settings, labels: int) -> list[AlignedExtraction]:
    """Extractions of the stream's last records, drawn by lot: enough for so many ``labels``."""
    found: dict[str, AlignedExtraction] = {}
    start = await tails(settings, [ALIGNMENTS], RECORDS * labels)
    async for record in read_topics(settings, [ALIGNMENTS], start=start):
        aligned = event_of(record, AlignedExtraction)
        if aligned and aligned.alignment.is_evidence:
            found[aligned.extraction.id] = aligned
    wanted = round(labels * (1 - CORRUPTED_SHARE))
    every = [found[name] for name in sorted(found)]
    return random.Random(0).sample(every, min(wanted, len(every)))


def write_sample(folder: Path, drawn: Sequence[AlignedExtraction]) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / SAMPLE
    path.touch(mode=0o600)
    path.write_bytes(b"".join(aligned.to_json() + b"\n" for aligned in drawn))


def take_over(earlier: Path, folder: Path) -> None:
    """Copy what was drawn for an ``earlier`` run, and what the grader said of it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in (SAMPLE, GRADED):
        if (earlier / name).exists():
            shutil.copy(earlier / name, folder / name)


def asked(drawn: Sequence[AlignedExtraction]) -> list[tuple[str, Pair]]:
    """The document and the question of every extraction, and of its corruption if it has one."""
    of_document: dict[str, list[AlignedExtraction]] = defaultdict(list)
    of_type: dict[str, list[AlignedExtraction]] = defaultdict(list)
    for aligned in drawn:
        of_document[aligned.extraction.doc_id].append(aligned)
        of_type[aligned.extraction.entity_type].append(aligned)
    rng = random.Random(0)
    found = []
    for aligned in drawn:
        own, pair = aligned.extraction, Pair.of(aligned)
        found.append((own.doc_id, pair))
        near = [
            other.extraction.value
            for other in of_document[own.doc_id]
            if other.extraction.entity_type != own.entity_type
            and render_value(other.extraction.value) in pair.premise
        ]
        far = [other.extraction.value for other in of_type[own.entity_type]]
        others = [value for value in near or far if value != own.value]
        if others:
            value = rng.choice(others)
            said = hypothesis(own.entity_type, value)
            corrupted = replace(pair, value=value, hypothesis=said, absent=None)
            found.append((own.doc_id, corrupted))
    return found


def graded(folder: Path, grader: Scorer) -> list[LabelledPair]:
    """The labels that ``grader`` gives to the sample in ``folder``; what it said already is kept
    there, and not asked again. What it cannot judge is left out."""
    rows = read_jsonl(folder / SAMPLE, AlignedExtraction)
    questions = asked([row for row in rows if not isinstance(row, BadLine)])
    said = dict(_kept(folder / GRADED))
    missing = [at for at in range(len(questions)) if at not in said]
    with (folder / GRADED).open("ab") as file:
        for start in range(0, len(missing), AT_ONCE):
            batch = missing[start : start + AT_ONCE]
            answers = grader.assess([questions[at][1] for at in batch])
            for at, answer in zip(batch, answers, strict=True):
                known = answer.score is not None and answer.threshold is not None
                said[at] = answer.passes if known else None
                file.write(orjson.dumps({"at": at, "supported": said[at]}) + b"\n")
            file.flush()
    return [
        labelled_pair(pair, bool(said[at]), kind="graded", group=document)
        for at, (document, pair) in enumerate(questions)
        if said[at] is not None
    ]


def _kept(path: Path) -> Iterator[tuple[int, bool | None]]:
    if not path.exists():
        return
    for row in read_objects(path):
        if not isinstance(row, BadLine) and isinstance(row.get("at"), int):
            yield row["at"], row.get("supported")
