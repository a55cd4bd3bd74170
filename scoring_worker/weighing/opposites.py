"""Names of fields that exclude each other: what is the buyer's is not the supplier's.

A reader that is asked for one field alone takes what is there ("Buyer: Merrow Ltd" for *Supplier*).
The label then says by itself that the value is of another field, if its word is the counterpart
of the field's: the other side of a contract, the other end of a journey or a period, net and
gross, who asks and who approves, what is ordered and what was offered.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from safepassage.passages.words import content_words
from safepassage.schemas import entity_type_name
from safepassage.scoring_worker.text.closed_classes import lines_of


class _Side(NamedTuple):
    """One side of a set in ``opposites.txt``: its name, and the stems of its words."""

    name: str
    stems: frozenset[str]


def excludes(label: str, field: str, description: str = "", *, alone: bool = False) -> bool:
    """Whether a word of ``label`` is the counterpart of one of ``field``: neither has words of both
    sides, and the ``description`` has none of the label's. ``alone`` asks that the label has no
    words besides, but for those of the field ("quotation number" for *Order Number*)."""
    said, own = _stems(label), _stems(entity_type_name(field))
    described = _stems(description)
    for sides in _sets():
        of_label, of_field = _of(sides, said), _of(sides, own)
        if len(of_label) != 1 or len(of_field) != 1 or of_label == of_field:
            continue
        words = of_label[0].stems
        if said & words & described or (alone and not said - own <= words):
            continue
        return True
    return False


def counterparts(field: str, text: str) -> tuple[str, ...]:
    """The names of fields that ``field`` excludes and of which ``text`` speaks: *Quotation Number*
    for *Order Number*, where ``text`` has a word of quotations."""
    words, said = entity_type_name(field).split(), _stems(text)
    own = _stems(" ".join(words))
    found = []
    for sides in _sets():
        of_field = _of(sides, own)
        if len(of_field) != 1:
            continue
        others = [word for word in words if not _stems(word) & of_field[0].stems]
        found += [_named(side, others) for side in _of(sides, said) if side != of_field[0]]
    return tuple(found)


def _of(sides: Sequence[_Side], words: frozenset[str]) -> list[_Side]:
    """Those of ``sides`` that have any of ``words``."""
    return [side for side in sides if words & side.stems]


def _named(side: _Side, words: Sequence[str]) -> str:
    """The name of ``side`` in a field that has the other ``words``; a name of two has none."""
    name = entity_type_name(side.name)
    return name if "_" in side.name else " ".join((name, *words))


@cache
def _sets() -> list[list[_Side]]:
    lines = lines_of(Path(__file__).with_name("opposites.txt"))
    sets = [[side.split() for side in line.split("|")] for line in lines]
    return [[_Side(side[0], _stems(" ".join(side))) for side in sides] for sides in sets]


def _stems(text: str) -> frozenset[str]:
    return frozenset(content_words(text)) if text else frozenset()
