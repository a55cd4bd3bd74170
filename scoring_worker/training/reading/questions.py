"""What a reader is trained on: questions to a passage, and which of its words answer them.

A row of a slots file is a (passage, type, value) with a label. Rows of the same passage and slot
are one question: its right values and, beside them, its wrong ones.
"""

from dataclasses import dataclass

Place = tuple[int, int]
"""Code points from, to (exclusive)."""


@dataclass(frozen=True, slots=True)
class ReadingQuestion:
    """One passage and one question to it, with every answer that is known.

    ``asked`` are the forms the question may take: name of a field, description, question.
    ``answers`` and ``wrong`` are places in ``passage``. ``supported`` is for a claim (and then
    ``asked`` is the claim): 1 where the passage entails it, 0 where not; None for a question.
    ``unfounded`` are the places in the claim of words that the passage does not support; None
    where nobody marked them. ``exhaustive``: every answer is known, so that other words are
    none; otherwise only the words of the values given teach.
    """

    passage: str
    asked: tuple[str, ...]
    answers: tuple[Place, ...] = ()
    wrong: tuple[Place, ...] = ()
    supported: int | None = None
    unfounded: tuple[Place, ...] | None = None
    source: str = ""
    group: str = ""
    language: str = "en"
    exhaustive: bool = True


def places_of(value: str, passage: str, most: int = 4) -> list[Place]:
    """Where ``value`` is in ``passage`` as whole words, in any case; at most ``most``."""
    if not value or len(passage) != len(passage.lower()):
        folded, wanted = passage, value
    else:
        folded, wanted = passage.lower(), value.lower()
    found: list[Place] = []
    at = folded.find(wanted) if wanted else -1
    while at >= 0 and len(found) < most:
        end = at + len(wanted)
        if not _cuts(folded, at) and not _cuts(folded, end):
            found.append((at, end))
        at = folded.find(wanted, end)
    return found


def _cuts(text: str, edge: int) -> bool:
    """Whether a word goes on across ``edge``."""
    return 0 < edge < len(text) and all(c.isalnum() for c in text[edge - 1 : edge + 1])
