"""Words that a quote has in other words: what a decision on them leaves, and what it is worth."""

from collections.abc import Mapping, Sequence

from safepassage.schemas.memory import MAX_LIKE, LikeCase
from safepassage.scoring_worker.comparison import Question
from safepassage.scoring_worker.comparison.contract import OtherWords
from safepassage.scoring_worker.memory.reviewed_alike import Recall

from .questions import Part


def in_other_words(parts: Sequence[Part]) -> dict[int, tuple[str, ...]]:
    """The digests of words that a decision on ``parts`` is about, by the number of the part; empty
    where a part differs for anything else, or nobody knows what is in the place of a word."""
    found = {}
    for number, part in enumerate(parts):
        if part.comparison.answer != "different":
            continue
        said = {one.code for one in part.comparison.findings if one.contradicts}
        if said != {"word_differs"} or not part.comparison.other_words:
            return {}
        found[number] = tuple(one.key for one in part.comparison.other_words)
    return found


def recalled_words(
    asked: Question, words: Sequence[OtherWords], known: Mapping[str, tuple[LikeCase, ...]]
) -> Recall:
    """What reviewers decided on ``words``, which all are ``known``. It moves no score: the words
    do not differ any more."""
    quote = asked.passage.quote
    said = [
        f"“{quote[one.place.start : one.place.end]}” was accepted for “{one.words}”"
        for one in words
    ]
    cases = {case.case_id: case for one in words for case in known[one.key]}
    return Recall(0.0, tuple(cases.values())[:MAX_LIKE], "; ".join(said)[:200])
