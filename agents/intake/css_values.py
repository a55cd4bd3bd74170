"""Values of CSS properties: lengths and colours, for a page on a common screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from .limits import extra_module

SCREEN = {"width": 1280.0, "height": 800.0}
"""CSS pixels of the screen that a page is read for: a plain laptop's."""
MEDIUM = 16.0
"""CSS pixels of text that nobody sized."""

_MAX_KEPT = 50  # characters of a colour

_PIXELS = {"px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4}
_OF_SCREEN = {
    "vw": SCREEN["width"] / 100,
    "vh": SCREEN["height"] / 100,
    "vmin": min(SCREEN.values()) / 100,
    "vmax": max(SCREEN.values()) / 100,
}


class Colour(NamedTuple):
    """Red, green, blue and alpha in [0, 1]."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0

    def on(self, ground: Colour) -> Colour:
        """What is seen of it on an opaque colour."""
        pairs = zip(self[:3], ground[:3], strict=True)
        return Colour(*(one * self.alpha + other * (1 - self.alpha) for one, other in pairs))

    def contrast(self, ground: Colour) -> float:
        """The difference in the channel that differs most, in [0, 1]."""
        return max(abs(one - other) for one, other in zip(self.on(ground), ground, strict=True))


BLACK, WHITE = Colour(0, 0, 0), Colour(1, 1, 1)


def pixels(token: Any, font: float = MEDIUM, root: float = MEDIUM) -> float | None:
    """A length in CSS pixels, where the element's font has ``font`` of them and the page's
    ``root``. None for a percentage and for what is no length."""
    if token.type == "number" and token.value == 0:
        return 0.0
    if token.type != "dimension":
        return None
    units = {**_PIXELS, **_OF_SCREEN, "em": font, "rem": root, "ex": font / 2, "ch": font / 2}
    scale = units.get(token.lower_unit)
    return None if scale is None else float(token.value) * scale


def percent(token: Any) -> float | None:
    """A percentage as its number; None for anything else."""
    return float(token.value) if token.type == "percentage" else None


def colour(token: Any) -> Colour | None:
    """None for what is no colour, or depends on another."""
    text = token.serialize()
    return _colour(text) if len(text) <= _MAX_KEPT else _colour.__wrapped__(text)


@lru_cache(maxsize=1024)
def _colour(text: str) -> Colour | None:
    found = extra_module("tinycss2.color4", "files").parse_color(text)
    if found is None or found == "currentcolor":
        return None
    try:
        *channels, alpha = found.to("srgb")
    except NotImplementedError:
        return None
    return Colour(*(min(max(float(one or 0), 0.0), 1.0) for one in (*channels, alpha)))


def word(tokens: Sequence[Any]) -> str:
    """The keyword that a value consists of, in lower case; "" where it is more or none."""
    return str(tokens[0].lower_value) if len(tokens) == 1 and tokens[0].type == "ident" else ""


def arguments(token: Any, *names: str) -> list[Any] | None:
    """The arguments of a function of one of these names; None for anything else."""
    if token.type != "function" or token.lower_name not in names:
        return None
    return solid(token.arguments)


def solid(tokens: Sequence[Any]) -> list[Any]:
    """Without blanks, comments and commas."""
    return [t for t in tokens if t.type not in ("whitespace", "comment") and t != ","]


def split(tokens: Sequence[Any]) -> Iterator[list[Any]]:
    """The parts between commas."""
    start = 0
    for end, one in enumerate(tokens):
        if one == ",":
            yield list(tokens[start:end])
            start = end + 1
    yield list(tokens[start:])
