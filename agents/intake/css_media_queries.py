"""Whether the rules of a media query apply to a page on a common screen."""

import operator
from collections.abc import Sequence
from typing import Any

from .css_values import SCREEN, pixels, solid, split, word

Answer = bool | None
"""None: the query asks for what is not known of a person's screen."""

_PREFERRED = ("contrast", "reduced-motion", "reduced-transparency")
_SHOWN = {
    "orientation": "landscape",
    "scripting": "enabled",
    "prefers-color-scheme": "light",
    **dict.fromkeys(("hover", "any-hover"), "hover"),
    **dict.fromkeys(("pointer", "any-pointer"), "fine"),
    **dict.fromkeys((f"prefers-{what}" for what in _PREFERRED), "no-preference"),
    **dict.fromkeys(("forced-colors", "inverted-colors"), "none"),
}
_COMPARED = {"<": operator.lt, ">": operator.gt, "=": operator.eq}
_TURNED = str.maketrans("<>", "><")
_BOUNDS = {"": "=", "min": ">=", "max": "<="}


def applies(query: Sequence[Any]) -> Answer:
    """The answer for the tokens of a query list; an empty one applies."""
    if not solid(query):
        return True
    return _joined([_query(solid(part)) for part in split(query)], True)


def _query(tokens: list[Any]) -> Answer:
    answers: list[Answer] = []
    alternatives = negated = False
    for token in tokens:
        name = word([token])
        if name == "not":
            negated = True
        elif name in ("and", "or"):
            alternatives = name == "or"
        elif token.type == "() block":
            answers.append(_condition(solid(token.content)))
        elif name and name != "only":
            answers.append(name in ("all", "screen"))
        elif not name:
            answers.append(None)
    found = _joined(answers, alternatives)
    return not found if negated and found is not None else found


def _condition(tokens: list[Any]) -> Answer:
    if not tokens:
        return None
    name, value = word(tokens[:1]), tokens[2:]
    if tokens[0].type == "() block" or name == "not":
        return _query(tokens)
    if len(tokens) == 1:
        known = _SHOWN.get(name, "known" if name in SCREEN else None)
        return None if known is None else known not in ("none", "no-preference")
    if tokens[1] != ":":
        return _in_range(tokens)
    if name in _SHOWN:
        return word(value) == _SHOWN[name]
    bound, _, side = name.rpartition("-")
    is_known = side in SCREEN and bound in _BOUNDS and len(value) == 1
    return _compared(SCREEN[side], _BOUNDS[bound], value[0]) if is_known else None


def _in_range(tokens: list[Any]) -> Answer:
    """``400px <= width < 900px`` and its halves."""
    at = next((n for n, token in enumerate(tokens) if word([token]) in SCREEN), None)
    if at is None:
        return None
    size = SCREEN[word([tokens[at]])]
    before, after = tokens[:at], tokens[at + 1 :]
    answers = []
    if before:
        answers.append(_compared(size, _signs(before[1:]).translate(_TURNED), before[0]))
    if after:
        answers.append(_compared(size, _signs(after[:-1]), after[-1]))
    return _joined(answers, False)


def _signs(tokens: list[Any]) -> str:
    return "".join(str(getattr(token, "value", "?")) for token in tokens)


def _compared(size: float, signs: str, token: Any) -> Answer:
    length = pixels(token)
    if length is None or not signs or not set(signs) <= set(_COMPARED):
        return None
    return any(_COMPARED[sign](size, length) for sign in signs)


def _joined(answers: list[Answer], decisive: bool) -> Answer:
    """Of several: one that is ``decisive`` decides; without it, one that is not known."""
    if decisive in answers:
        return decisive
    return None if None in answers else not decisive
