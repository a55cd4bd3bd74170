"""Takes out of a page what a browser would not show of it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .css_rules import Declaration, Rule, Specificity, declarations_of
from .html_visibility import Look, Style
from .limits import Refused, extra_module

MAX_DEPTH = 400
"""Elements inside each other; a page of more is refused."""

_CONTROLS = ("button", "input", "select", "textarea")
_NAME = re.compile(r"[.#]?[\w-]+")
_PSEUDO_CLASS = re.compile(r":[\w-]+")
_SIMPLE = re.compile(r"[.#]?[a-zA-Z_][\w-]*")
_JOINED = re.compile(r"[\w\s.#:>+~*-]+")
_COLOUR = re.compile(r"#?\w+")  # and not another property behind it
_BARE_HEX = re.compile(r"[0-9a-fA-F]{6}|[0-9a-fA-F]{3}")


class _Weighed(NamedTuple):
    """A declaration with its weight in the cascade; the heaviest is in force."""

    important: bool
    inline: int  # -1 for what the element says without a style, 1 for its ``style``
    specificity: Specificity
    declaration: Declaration


def remove_unseen(tree: Any, rules: Sequence[Rule]) -> int:
    """Remove the elements and texts of a page that nobody sees; returns how many characters other
    than blanks they have. Where it is not sure that a rule applies, what is hidden either with or
    without it is removed. Raises `Refused` where the page nests its elements without end."""
    sure = [rule for rule in rules if rule.sure]
    removed = _Page(tree, sure).remove()
    return removed if len(sure) == len(rules) else removed + _Page(tree, rules).remove()


class _Index:
    """The elements of a page by their tag, ``.class`` and ``#id``. A page may bring thousands of
    rules, and to find the elements of one is to go through the whole page."""

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._error = extra_module("selectolax.lexbor", "files").SelectolaxError
        self._named: dict[str, list[Any]] = defaultdict(list)
        for node in tree.css("*"):
            for name in _names(node):
                self._named[name].append(node)

    def find(self, selector: str) -> list[Any]:
        """The elements that a selector finds; none for one such as ``p::before``."""
        if _SIMPLE.fullmatch(selector):
            return self._named.get(selector.lower(), [])
        if _JOINED.fullmatch(selector):
            names = _NAME.findall(_PSEUDO_CLASS.sub("", selector).lower())
            if not all(name in self._named for name in names):
                return []
        try:
            return list(self._tree.css(selector))
        except (self._error, ValueError):
            return []


class _Page:
    def __init__(self, tree: Any, rules: Sequence[Rule]) -> None:
        self._tree = tree
        self._weighed: dict[int, list[_Weighed]] = defaultdict(list)
        index = _Index(tree)
        for rule in rules:
            for node in index.find(rule.selector):
                self._weighed[node.mem_id] += (
                    _Weighed(one.important, 0, rule.specificity, one) for one in rule.declarations
                )

    def remove(self) -> int:
        """Remove what is unseen; returns the number of its characters."""
        root, body = self._tree.root, self._tree.body
        if root is None:
            return 0
        style = self._style(root)
        if body is not None and Look().hides_box(style):
            return _remove(body)
        look = Look().inside(style)
        return self._remove_inside(root, look._replace(root=look.font), 0)

    def _remove_inside(self, parent: Any, look: Look, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise Refused("is nested without end")
        removed = 0
        for node in _children(parent):
            if node.tag == "-text":
                removed += 0 if look.is_legible else _remove(node)
                continue
            style = self._style(node)
            own = look.inside(style)
            if look.hides_box(style) or (node.tag == "input" and not own.is_legible):
                removed += _remove(node)
            else:
                removed += self._remove_inside(node, own, depth + 1)
        return removed

    def _style(self, node: Any) -> Style:
        given = node.attributes
        hints = declarations_of(";".join(_hints(node.tag, given)))
        inline = declarations_of(given.get("style") or "")
        weighed = [_Weighed(one.important, -1, (0, 0, 0), one) for one in hints]
        weighed += self._weighed.get(node.mem_id, [])
        weighed += [_Weighed(one.important, 1, (0, 0, 0), one) for one in inline]
        weighed.sort(key=lambda one: one[:3])  # stable: of equal ones the last is in force
        return {one.declaration.name: one.declaration.values for one in weighed}


def _names(node: Any) -> Iterator[str]:
    """In lower case: pages without a doctype tell no case, and too much hides less than too
    little."""
    yield node.tag.lower()
    for name in set((node.attributes.get("class") or "").lower().split()):
        yield f".{name}"
    yield f"#{(node.attributes.get('id') or '').lower()}"


def _children(node: Any) -> Iterator[Any]:
    child = node.child
    while child is not None:
        following = child.next
        yield child
        child = following


def _remove(node: Any) -> int:
    count = len("".join((node.text_content if node.tag == "-text" else node.text()).split()))
    node.decompose()
    return count


def _hints(tag: str, given: Mapping[str, str | None]) -> Iterator[str]:
    """What browsers take for the style of an element that has none of its own."""
    if "hidden" in given or (tag == "input" and given.get("type") == "hidden"):
        yield "display: none"
    if tag in _CONTROLS:
        yield "color: black; background: white"
    if tag == "a" and "href" in given:
        yield "color: #0000ee"
    for name, value in (
        ("color", given.get("color") if tag == "font" else None),
        ("color", given.get("text") if tag == "body" else None),
        ("background-color", given.get("bgcolor")),
    ):
        if value and _COLOUR.fullmatch(value):
            yield f"{name}: {'#' if _BARE_HEX.fullmatch(value) else ''}{value}"
