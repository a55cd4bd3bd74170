"""Whether the rules of a media query apply to a page on a common screen."""

import operator
from collections.abc import Sequence
from typing import Any

from .css_values import SCREEN, pixels, solid, split, word

Answer = bool | None
"""None: the query asks for what is not known of a person's screen."""

_SHOWN = {
    "orientation": "landscape",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "scripting": "enabled",
    "prefers-color-scheme": "light",
    "prefers-contrast": "no-preference",
    "prefers-reduced-motion": "no-preference",
    "prefers-reduced-transparency": "no-preference",
    "forced-colors": "none",
    "inverted-colors": "none",
}
_COMPARED = {"<": operator.lt, ">": operator.gt, "=": operator.eq}
_TURNED = {"<": ">", ">": "<", "=": "="}


def applies(query: Sequence[Any]) -> Answer:
    """The answer for the tokens of a query list; an empty one applies."""
    if not solid(query):
        return True
    return _any([_query(solid(part)) for part in split(query)])


def _query(tokens: list[Any]) -> Answer:
    answers: list[Answer] = []
    joined, negated = "and", False
    for token in tokens:
        name = word([token])
        if name == "not":
            negated = True
        elif name in ("and", "or"):
            joined = name
        elif token.type == "() block":
            answers.append(_condition(solid(token.content)))
        elif name and name != "only":
            answers.append(name in ("all", "screen"))
        elif not name:
            answers.append(None)
    found = _any(answers) if joined == "or" else _all(answers)
    return not found if negated and found is not None else found


def _condition(tokens: list[Any]) -> Answer:
    if not tokens:
        return None
    if tokens[0].type == "() block" or word(tokens[:1]) == "not":
        return _query(tokens)
    name = word(tokens[:1])
    if len(tokens) == 1:
        return _has(name)
    if tokens[1] == ":":
        return _is(name, tokens[2:])
    return _in_range(tokens)


def _has(name: str) -> Answer:
    if name in SCREEN:
        return True
    return _SHOWN[name] not in ("none", "no-preference") if name in _SHOWN else None


def _is(name: str, value: list[Any]) -> Answer:
    if name in _SHOWN:
        return word(value) == _SHOWN[name]
    bound, _, side = name.rpartition("-")
    length = pixels(value[0]) if len(value) == 1 else None
    if side not in SCREEN or bound not in ("", "min", "max") or length is None:
        return None
    if bound == "min":
        return SCREEN[side] >= length
    return SCREEN[side] <= length if bound == "max" else SCREEN[side] == length


def _in_range(tokens: list[Any]) -> Answer:
    """``400px <= width < 900px`` and its halves."""
    at = next((n for n, token in enumerate(tokens) if word([token]) in SCREEN), None)
    if at is None:
        return None
    size = SCREEN[word([tokens[at]])]
    before, after = tokens[:at], tokens[at + 1 :]
    answers = []
    if before:
        turned = [_TURNED.get(sign, "") for sign in map(str, _signs(before[1:]))]
        answers.append(_compared(size, turned, before[0]))
    if after:
        answers.append(_compared(size, _signs(after[:-1]), after[-1]))
    return _all(answers)


def _signs(tokens: list[Any]) -> list[str]:
    return [sign for token in tokens for sign in getattr(token, "value", "?")]


def _compared(size: float, signs: list[str], token: Any) -> Answer:
    length = pixels(token)
    if length is None or not signs or not set(signs) <= set(_COMPARED):
        return None
    return any(_COMPARED[sign](size, length) for sign in signs)


def _all(answers: list[Answer]) -> Answer:
    if False in answers:
        return False
    return None if None in answers else True


def _any(answers: list[Answer]) -> Answer:
    if True in answers:
        return True
    return None if None in answers else False
