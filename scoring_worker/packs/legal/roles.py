"""Which role an entity type asks for, and which role the label beside a value gives it.

Headers name their values: "Panel / Tribunal: A. Green" makes A. Green the judge, and the label
"Counsel for the Claimant(s)" that happens to follow does not make him counsel. The lexicon
(roles.txt) holds what is common to many kinds of documents; a type that it does not know has no
role here, and is left to the encoder and to the words that type and passage share.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from safepassage.scoring_worker.packs.folding import fold

from .denial import is_denied
from .kinds import SECTIONS

_SIGNIFICANT = re.compile(r"[a-z0-9]")
_WORD_STARTS = r"(?:(?<![\w'-])|(?<=\bl')|(?<=\bd'))"
_RUNNING_TEXT = re.compile(
    r"(?<!\bmrs)(?<!\bhon)(?<!\besq)(?<!\bprof)(?<=[a-z]{3})\.\s|\[\d+\]|"
    r"\b(?:that|who|which|was|were|is|are|had|has|have|by|said|called|from|against|because)\b"
)
"""A label does not reach over the end of a sentence, nor over a verb."""
_REACH_BEFORE, _REACH_BEHIND = 60, 8
"""Letters and digits between a label and the value that it still governs: there may be other
values of a list before, but only an honorific behind."""


@dataclass(frozen=True, slots=True)
class Role:
    """A row of roles.txt. ``kind`` is "date", "person" or "place", ``bare`` are the other roles
    that a type of this one may ask for where it names no side."""

    name: str
    kind: str
    types: tuple[frozenset[str], ...]
    label: re.Pattern[str]
    cue: re.Pattern[str]
    bare: frozenset[str]

    @property
    def words(self) -> str:
        """The role as a reader would say it: "hearing date"."""
        return self.name.replace("_", " ")


class FoundLabel(NamedTuple):
    """A label at ``start`` to ``end`` of a folded text."""

    role: Role
    start: int
    end: int


def _role(block: str) -> Role:
    heading, *lines = block.strip().splitlines()
    name, kind = (part.strip() for part in heading.split("|"))
    parts = dict(line.split(": ", 1) for line in lines)
    return Role(
        name=name,
        kind=kind,
        types=tuple(frozenset(words.split()) for words in parts["type"].split("; ")),
        label=re.compile(rf"{_WORD_STARTS}(?:{parts['label']})(?![\w'-])"),
        cue=re.compile(rf"(?<!\w)(?:{parts['cue']})(?!\w)"),
        bare=frozenset(parts.get("bare", "").split()),
    )


_TEXT = Path(__file__).with_name("roles.txt").read_text("utf-8")
ROLES = tuple(map(_role, re.split(r"^== ", _TEXT, flags=re.MULTILINE)[1:]))


def role_of_type(entity_type: str) -> Role | None:
    """The role that ``entity_type`` asks for: the one most of whose words it has."""
    asked = {_singular(word) for word in re.findall(r"[a-z]+", fold(entity_type))}
    fitting = [(len(words), role) for role in ROLES for words in role.types if words <= asked]
    return max(fitting, key=lambda fit: fit[0])[1] if fitting else None


_PARTIES = frozenset(SECTIONS["adverse"])


def fitting_roles(entity_type: str, role: Role) -> frozenset[str]:
    """Names of the roles that a value of ``entity_type``, which asks for ``role``, may have."""
    asked = {_singular(word) for word in re.findall(r"[a-z]+", fold(entity_type))}
    own = frozenset({role.name})
    return own if asked & _PARTIES else own | role.bare


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def labels_in(folded: str) -> list[FoundLabel]:
    """Labels of any role, in order; where two overlap, the longer one."""
    found = [
        FoundLabel(role, match.start(), match.end())
        for role in ROLES
        for match in role.label.finditer(folded)
    ]
    kept: list[FoundLabel] = []
    for label in sorted(found, key=lambda label: (label.start - label.end, label.start)):
        if all(label.end <= other.start or other.end <= label.start for other in kept):
            kept.append(label)
    return sorted(kept, key=lambda label: label.start)


def governing_role(
    folded: str, labels: Sequence[FoundLabel], kind: str, start: int, end: int
) -> Role | None:
    """The role that the labels give to the value at ``start`` to ``end``.

    The nearest label before the value counts, unless it closed an earlier value ("Panel A. Green
    Tribunal" is one value between its English and its French label); then, as where none is
    before, the nearest one behind it.
    """
    fitting = [label for label in labels if label.role.kind == kind]
    before = [lab for lab in fitting if lab.end <= start]
    if before and not _reaches(folded[before[-1].end : start], _REACH_BEFORE):
        before = []
    after = [lab for lab in fitting if lab.start >= end]
    if after and not _reaches(folded[end : after[0].start], _REACH_BEHIND):
        after = []
    if before and not (after and _closes(folded, before, labels)):
        return before[-1].role
    return after[0].role if after else (before[-1].role if before else None)


def _reaches(between: str, most: int) -> bool:
    return len(_SIGNIFICANT.findall(between)) <= most and not _RUNNING_TEXT.search(between)


def _closes(folded: str, before: Sequence[FoundLabel], labels: Sequence[FoundLabel]) -> bool:
    """Whether the last label repeats the one before it with a value in between."""
    if len(before) < 2 or before[-1].role is not before[-2].role:
        return False
    opening, closing = before[-2], before[-1]
    between = folded[opening.end : closing.start]
    inner = [lab for lab in labels if opening.end <= lab.start and lab.end <= closing.start]
    return not inner and len(_SIGNIFICANT.findall(between)) > 2


def cue_is_denied(folded: str, role: Role, start: int, end: int, reach: int = 90) -> bool:
    """Whether the cue of ``role`` that is closest to the value is denied ("is not a lawyer")."""
    near = role.cue.finditer(folded, max(0, start - reach), end + reach)
    cues = [match.start() for match in near]
    if not cues:
        return False
    nearest = min(cues, key=lambda at: max(at - end, start - at, 0))
    return is_denied(folded, nearest, words=1)


def nearest_cue(folded: str, role: Role, start: int, end: int, reach: int = 90) -> int | None:
    """Characters between the value and the closest cue of ``role``; None beyond ``reach``."""
    gaps = [max(match.start() - end, start - match.end(), 0) for match in role.cue.finditer(folded)]
    nearest = min(gaps, default=None)
    return nearest if nearest is not None and nearest <= reach else None
