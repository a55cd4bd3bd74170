"""HTML in which text can only be text."""

import re
from collections.abc import Iterable
from html import escape

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Markup(str):
    """HTML that was made here; any other string is text, and is escaped."""

    __slots__ = ()


Content = str | Markup | Iterable["Content"]


def text(content: str) -> Markup:
    """``content`` as HTML shows it; what cannot be printed becomes U+FFFD."""
    return Markup(escape(_UNPRINTABLE.sub("\ufffd", content), quote=True))


def joined(content: Content) -> Markup:
    """``content`` as HTML: strings as text, `Markup` as it is."""
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return text(content)
    return Markup("".join(map(joined, content)))


def element(
    name: str, content: Content = "", **attributes: str | int | float | bool | None
) -> Markup:
    """An element. ``class_`` is class, "_" in a name is "-"; what is None or False is left out."""
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    said = "".join(
        f" {key}" + ("" if value is True else f'="{text(str(value))}"')
        for key, value in named.items()
        if value is not None and value is not False
    )
    return Markup(f"<{name}{said}>{joined(content)}</{name}>")
