"""Invented names and firms, real places: what a right value is exchanged for."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

_FOLDER = Path(__file__).parent
LEXICON = {
    name: tuple(entries.split(" | "))
    for name, _, entries in (
        line.partition(": ")
        for line in (_FOLDER / "lexicon.txt").read_text("utf-8").splitlines()
        if not line.startswith("# ")
    )
}
"""List name to entries, e.g. ``LEXICON["city"][0] == "Toronto, Ontario"``."""
CATEGORIES: dict[str, dict[str, list[str]]] = json.loads(
    (_FOLDER / "categories.json").read_text("utf-8")
)
"""Category to its values, and to what a document writes for each."""


@dataclass(frozen=True, slots=True)
class PlainDate:
    """A calendar date with unknown parts None."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def parts(self) -> dict[str, JsonValue]:
        """The structured value of the paper's Figure 2."""
        return {"yyyy": self.year, "mm": self.month, "dd": self.day}


def pick(name: str, rng: random.Random) -> str:
    """An entry of a list of the lexicon."""
    return rng.choice(LEXICON[name])


def person_name(rng: random.Random) -> str:
    """A full name, at times with initials."""
    first, last = pick("first", rng), pick("last", rng)
    middle = rng.choice("ABCDEFGHJKLMNPRSTW")
    return rng.choice(
        (f"{first} {last}",) * 5
        + (
            f"{first[0]}. {last}",
            f"{first} {middle}. {last}",
            f"{first[0]}. {pick('first', rng)} {last}",
        )
        + (f"{first[0]}.{middle}. {last}", f"{first} {middle} {last}")
    )


def company_name(rng: random.Random) -> str:
    """An invented firm."""
    return f"{pick('company_head', rng)} {pick('company_kind', rng)} {pick('company_form', rng)}"


def city_name(rng: random.Random) -> tuple[str, str]:
    """A city as a document writes it, with its province or without, and as a value."""
    full = pick("city", rng)
    city = full.split(", ")[0]
    shown = rng.choice((full, full, city))
    return shown, city if rng.random() < 0.35 else shown
