"""From aligned extractions to verdicts, rivals heard: what the stream, ``check`` and the shadow do.

An extraction and its rivals are asked about in one call, so that one scorer answers for all of
them, regardless of what is released meanwhile.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from pydantic import JsonValue

from safepassage.schemas import (
    CLAIM_TYPE,
    AlignedExtraction,
    Assessment,
    Verdict,
    judge,
    render_value,
)
from safepassage.schemas.rivals import reads_alike
from safepassage.scoring_worker.scorer import Pair, Scorer


def judge_all(aligned: Sequence[AlignedExtraction], scorer: Scorer) -> list[Verdict]:
    """One verdict for each, in order."""
    return verdicts(aligned, scorer.assess(pairs_of(aligned)))


def pairs_of(aligned: Sequence[AlignedExtraction]) -> list[Pair]:
    """What a scorer is asked: each extraction, and behind it its rivals."""
    return [Pair.of(asked) for event in aligned for asked in (event, *event.contenders)]


def verdicts(
    aligned: Sequence[AlignedExtraction], assessments: Sequence[Assessment]
) -> list[Verdict]:
    """The decision rule for each; ``assessments`` are of `pairs_of` the same. Raises `ValueError`
    where there are not as many assessments as pairs."""
    wanted = sum(1 + len(event.rivals) for event in aligned)
    if len(assessments) != wanted:
        raise ValueError(f"{wanted} pairs, but {len(assessments)} assessments")
    answers = iter(assessments)
    return [_verdict(event, answers) for event in aligned]


def _verdict(event: AlignedExtraction, answers: Iterator[Assessment]) -> Verdict:
    own = next(answers)
    rivals = list(zip(event.contenders, islice(answers, len(event.rivals)), strict=True))
    alone = judge(event, own)
    if not rivals or alone.reasons not in ((), ("doubtful",)):
        return alone
    return judge(event, own, [(r, said) for r, said in rivals if not _same_value(event, r)])


def _same_value(event: AlignedExtraction, rival: AlignedExtraction) -> bool:
    """Whether two values are one in another notation, as far as the comparators can show."""
    one, other = event.extraction.value, rival.extraction.value
    if reads_alike(one, other):
        return True
    entity_type = event.extraction.entity_type
    if entity_type == CLAIM_TYPE:
        return False
    answers = {_answer(entity_type, one, other), _answer(entity_type, other, one)}
    return "same" in answers and "different" not in answers


def _answer(entity_type: str, value: JsonValue, other: JsonValue) -> str:
    from safepassage.scoring_worker.comparison.compare import compare  # noqa: PLC0415 - seconds, seldom needed
    from safepassage.scoring_worker.comparison.contract import Passage, Question  # noqa: PLC0415

    # One of two values may say more than the other: that makes no conflict.
    quoted = Passage(quote=render_value(other))
    return compare(Question(entity_type, value, quoted, words="reader")).answer
