"""Values that are one of a few options: a hearing is public or private, in person or virtual."""

import re
from dataclasses import dataclass
from pathlib import Path

from safepassage.scoring_worker.packs.folding import fold

from .denial import is_denied


@dataclass(frozen=True, slots=True)
class Option:
    """One option: the values that name it, and how passages say it."""

    name: str
    values: frozenset[str]
    said: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Category:
    """A closed set of options, and the words of entity types that ask for it."""

    types: tuple[frozenset[str], ...]
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """``wanted`` is the option that the value names, ``said`` are those the passage speaks of."""

    wanted: str | None
    said: tuple[str, ...]


def _category(block: str) -> Category:
    heading, *lines = block.strip().splitlines()
    _, types = heading.split(": ")
    options = []
    for line in lines:
        values, said = line.split(" | ", 1)
        named = [value.strip() for value in values.split(",")]
        pattern = re.compile(rf"(?<![\w-])(?:{said.strip()})(?![\w-])")
        options.append(Option(named[0], frozenset(named), pattern))
    return Category(tuple(frozenset(t.split()) for t in types.split("; ")), tuple(options))


_TEXT = Path(__file__).with_name("categories.txt").read_text("utf-8")
CATEGORIES = tuple(map(_category, re.split(r"^== ", _TEXT, flags=re.MULTILINE)[1:]))


def choice(entity_type: str, value: str, folded: str) -> Choice | None:
    """The value's option and the passage's, or None where the type is no known category."""
    asked = set(re.findall(r"[a-z]+", fold(entity_type)))
    for category in CATEGORIES:
        if any(types <= asked for types in category.types):
            return _choose(category, fold(value), folded)
    return None


def _choose(category: Category, value: str, folded: str) -> Choice:
    wanted = [option.name for option in category.options if value in option.values]
    wanted = wanted or [option.name for option in category.options if option.said.fullmatch(value)]
    said = tuple(option.name for option in category.options if _says(option, folded))
    return Choice(wanted[0] if wanted else None, said)


def _says(option: Option, folded: str) -> bool:
    """Whether the passage speaks of the option other than to deny it ("not held in camera")."""
    return any(not is_denied(folded, match.start()) for match in option.said.finditer(folded))
