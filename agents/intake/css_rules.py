"""The rules of a page's style sheets, as far as they decide what can be seen."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from .css_media_queries import applies
from .css_values import arguments, colour, percent, pixels, solid, split, word
from .limits import Refused, extra_module

Values = list[Any]
Specificity = tuple[int, int, int]

_MAX_RULES = 20_000
_MAX_SELECTOR = 10_000  # characters; nested rules repeat those around them
_MAX_KEPT = 300  # characters of a style; tables repeat a short one in every cell
_PARTS = {
    "background": ("background-color", "background-image"),
    "font": ("font-size",),
    "overflow-x": ("overflow",),
    "overflow-y": ("overflow",),
}
CLIPPED_SIZES = ("width", "height", "max-width", "max-height")
EDGES = ("left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top")
_READ = frozenset(
    (
        *("display", "visibility", "content-visibility", "opacity", "mso-hide", "overflow"),
        *("color", "background-color", "background-image", "font-size", "clip", "clip-path"),
        *CLIPPED_SIZES,
        *EDGES,
    )
)
_EVERYWHERE = frozenset(("inherit", "initial", "unset", "revert", "revert-layer"))
_DISPLAY = re.compile(
    r"none|contents|(?:inline-)?(?:block|flex|grid|table)|inline|list-item|flow-root|ruby(?:-\w+)?"
    r"|table-[a-z-]+|-(?:webkit|moz|ms)-[a-z-]+"
)
_UNSURE = ("supports", "container", "scope", "starting-style")
"""Their conditions are not judged: what they hide is hidden, what they show need not be."""


class Declaration(NamedTuple):
    """One property; ``values`` are tokens without blanks."""

    name: str
    values: Values
    important: bool


class Rule(NamedTuple):
    """Declarations of the elements that ``selector`` finds. It is ``sure`` that the rule applies
    where no condition is around it that depends on the person's screen."""

    selector: str
    specificity: Specificity
    declarations: list[Declaration]
    sure: bool


def rules_of(sheets: Iterable[tuple[str, str]]) -> list[Rule]:
    """The rules of style sheets, each with its media query, in the order of the page. Raises
    `Refused` where there are too many."""
    css = extra_module("tinycss2", "files")
    rules: list[Rule] = []
    for text, media in sheets:
        answer = applies(css.parse_component_value_list(media, skip_comments=True))
        if answer is not False:
            nodes = css.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
            for rule in _rules(css, nodes, (), answer is True):
                rules.append(rule)
                if len(rules) > _MAX_RULES:
                    raise Refused(f"has more than {_MAX_RULES} style rules")
    return rules


def declarations_of(style: str) -> tuple[Declaration, ...]:
    """Those of a ``style`` attribute."""
    if not style:
        return ()
    return _parsed(style) if len(style) <= _MAX_KEPT else _parsed.__wrapped__(style)


@lru_cache(maxsize=1024)
def _parsed(style: str) -> tuple[Declaration, ...]:
    css = extra_module("tinycss2", "files")
    found = css.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
    return tuple(_declarations(found))


def _rules(css: Any, nodes: list[Any], around: Sequence[str], sure: bool) -> Iterator[Rule]:
    """``around``: the selectors of the rule that holds these."""
    for node in nodes:
        if node.type == "qualified-rule":
            inner = css.parse_blocks_contents(
                node.content, skip_comments=True, skip_whitespace=True
            )
            selectors = [
                _nested(css.serialize(part).strip(), around) for part in split(node.prelude)
            ]
            found = list(_declarations(inner))
            for selector in selectors if found else ():
                yield Rule(selector, _specificity(css, selector), found, sure)
            yield from _rules(css, inner, selectors, sure)
        elif node.type == "at-rule" and node.content is not None:
            answer = _condition(node)
            if answer is False:
                continue
            parse = css.parse_blocks_contents if around else css.parse_rule_list
            inner = parse(node.content, skip_comments=True, skip_whitespace=True)
            still_sure = sure and answer is True
            if around and (found := list(_declarations(inner))):
                for selector in around:
                    yield Rule(selector, _specificity(css, selector), found, still_sure)
            yield from _rules(css, inner, around, still_sure)


def _condition(rule: Any) -> bool | None:
    if rule.lower_at_keyword == "media":
        return applies(rule.prelude)
    if rule.lower_at_keyword in _UNSURE:
        return None
    return bool(rule.lower_at_keyword == "layer")


def _nested(selector: str, around: Sequence[str]) -> str:
    if around:
        parent = f":is({', '.join(around)})"
        selector = selector.replace("&", parent) if "&" in selector else f"{parent} {selector}"
    if len(selector) > _MAX_SELECTOR:
        raise Refused(f"has a selector of more than {_MAX_SELECTOR} characters")
    return selector


def _specificity(css: Any, selector: str) -> Specificity:
    return _weight(css.parse_component_value_list(selector, skip_comments=True))


def _weight(tokens: Sequence[Any]) -> Specificity:
    ids = classes = types = 0
    before = None
    for token in tokens:
        if token.type == "hash":
            ids += 1
        elif token.type == "[] block" or (token.type == "ident" and before in (".", ":")):
            classes += 1
        elif token.type == "ident":
            types += 1
        elif token.type == "function" and token.lower_name in ("is", "not", "has"):
            inner = max(map(_weight, split(token.arguments)))
            ids, classes, types = ids + inner[0], classes + inner[1], types + inner[2]
        elif token.type == "function" and token.lower_name != "where":
            classes += 1
        before = token.value if token.type == "literal" else None
    return ids, classes, types


def _declarations(nodes: Iterable[Any]) -> Iterator[Declaration]:
    for node in nodes:
        if node.type == "declaration":
            values = solid(node.value)
            for name, part in _longhands(node.lower_name, values):
                if name in _READ and part and _is_valid(name, part):
                    yield Declaration(name, part, node.important)


def _longhands(name: str, values: Values) -> Iterator[tuple[str, Values]]:
    if name == "margin":
        yield "margin-top", values[:1]
        yield "margin-left", (values[3:4] or values[1:2] or values[:1])
    else:
        for part in _PARTS.get(name, (name,)):
            yield part, values


def _is_valid(name: str, values: Values) -> bool:
    """A value that browsers do not know leaves the one before it in force."""
    if word(values) in _EVERYWHERE or any(arguments(one, "var", "env") for one in values):
        return True
    return name not in _VALID or _VALID[name](values)


def _is_size(values: Values) -> bool:
    first = values[0]
    known = pixels(first) is not None or percent(first) is not None
    return known or bool(word(values)) or first.type == "function"


_VALID: dict[str, Callable[[Values], bool]] = {
    "display": lambda values: all(_DISPLAY.fullmatch(word([one])) for one in values),
    "visibility": lambda values: word(values) in ("visible", "hidden", "collapse"),
    "color": lambda values: word(values) == "currentcolor" or colour(values[0]) is not None,
    "opacity": lambda values: values[0].type in ("number", "percentage", "function"),
    **dict.fromkeys((*EDGES, *CLIPPED_SIZES), _is_size),
}
