"""HTML: the text that a browser would show, tables as rows. A web page has no pages, so there is
no layout. Nothing that the page names is loaded."""

import re
from typing import Any

from .composition import row_line
from .css_rules import rules_of
from .file_documents import Omitted
from .html_hidden_elements import MAX_DEPTH, remove_unseen
from .limits import Limits, Refused, extra_module

_NEVER_SHOWN = (
    "head, script, style, template, noscript, svg, iframe, object, embed, "
    "select > option:not([selected])"
)
_APART = frozenset(
    ("h1", "h2", "h3", "h4", "h5", "h6", "p", "table", "ul", "ol", "dl", "blockquote", "pre")
)
_LINES = frozenset(
    re.findall(
        r"\w+",
        """address article aside body caption center dd details dialog div dt fieldset figcaption
        figure footer form header hr legend li main nav section summary thead tbody tfoot tr""",
    )
)
_MAX_SPAN = 100
_BLANKS = re.compile(r"[ \t\n\r\f]+")


def read_html(raw: bytes, limits: Limits) -> tuple[str, Omitted]:
    """The text, and how much of it the page's own markup and styles hide. Raises `Refused` where
    the page nests its elements without end."""
    parser = extra_module("selectolax.lexbor", "files")
    if len(raw) > limits.unpacked_bytes:
        raise Refused(f"has {len(raw)} bytes")
    tree = parser.LexborHTMLParser(_decoded(raw))
    rules = rules_of(
        (sheet.text(), sheet.attributes.get("media") or "") for sheet in tree.css("style")
    )
    for node in tree.css(_NEVER_SHOWN):
        node.decompose()
    omitted = Omitted()
    if removed := remove_unseen(tree, rules):
        omitted["hidden"] = removed
    body = tree.body or tree.root
    if body is None:
        return "", omitted
    writer = _Writer()
    writer.write(body, 0)
    return writer.text, omitted


def _decoded(raw: bytes) -> str:
    """As the page itself says, UTF-8 where it says nothing."""
    named = re.search(rb"charset\s*=\s*[\"']?\s*([\w.:-]+)", raw[:2048], re.IGNORECASE)
    for encoding in filter(None, [named and named[1].decode("ascii"), "utf-8", "cp1252"]):
        try:
            return raw.decode(encoding).removeprefix("\ufeff").replace("\0", "")
        except (LookupError, UnicodeDecodeError):
            continue
    return raw.decode("latin-1").replace("\0", "")


class _Writer:
    """Text in lines: blocks end them, blanks are made one, rows of tables are lines of cells."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []

    @property
    def text(self) -> str:
        self._end_line()
        while self._lines and not self._lines[-1]:
            self._lines.pop()
        return "\n".join(self._lines)

    def write(self, node: Any, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise Refused("is nested without end")
        child = node.child
        while child is not None:
            tag = child.tag
            if tag == "-text":
                self._line.append(child.text_content or "")
            elif tag == "br":
                self._end_line()
            elif tag == "table" and not child.css_first("table table"):
                self._part(apart=True)
                self._lines += _rows(child)
                self._part(apart=True)
            elif tag == "input":
                self._line.append(f" {child.attributes.get('value') or ''} ")
            elif tag in _LINES or tag in _APART:
                self._part(apart=tag in _APART)
                self.write(child, depth + 1)
                self._part(apart=tag in _APART)
            else:
                self.write(child, depth + 1)
            child = child.next

    def _part(self, *, apart: bool) -> None:
        self._end_line()
        if apart and self._lines and self._lines[-1]:
            self._lines.append("")

    def _end_line(self) -> None:
        line = _BLANKS.sub(" ", "".join(self._line)).strip()
        self._line = []
        if line:
            self._lines.append(line)


def _rows(table: Any) -> list[str]:
    """The rows of a table that holds no other; a cell that spans rows names each of them."""
    lines = []
    spanning: dict[int, tuple[int, str]] = {}
    for row in table.css("tr"):
        cells: list[str] = []
        for cell in row.css("td, th"):
            _fill(cells, spanning)
            text = _cell_text(cell)
            rows, columns = (_span(cell, name) for name in ("rowspan", "colspan"))
            if rows > 1:
                spanning[len(cells)] = rows - 1, text
            cells += [text, *[""] * (columns - 1)]
        _fill(cells, spanning)
        if any(cells):
            lines.append(row_line(cells))
    caption = table.css_first("caption")
    return [*([_cell_text(caption)] if caption else []), *lines]


def _fill(cells: list[str], spanning: dict[int, tuple[int, str]]) -> None:
    while len(cells) in spanning:
        left, text = spanning.pop(len(cells))
        if left > 1:
            spanning[len(cells)] = left - 1, text
        cells.append(text)


def _span(cell: Any, name: str) -> int:
    value = cell.attributes.get(name) or "1"
    return max(1, min(int(value), _MAX_SPAN)) if value.isascii() and value.isdecimal() else 1


def _cell_text(cell: Any) -> str:
    writer = _Writer()
    writer.write(cell, 0)
    return " ".join(writer.text.split())
