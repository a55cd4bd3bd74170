"""HTML: the text that a browser would show, tables as rows. A web page has no pages, so there is
no layout. Nothing that the page names is loaded."""

from __future__ import annotations

import re
from typing import Any

from .limits import Limits, Refused, extra_module
from .tables import row_line
from .visibility import Omitted

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
_MAX_DEPTH = 400
_MAX_RULES = 2_000
_MAX_SPAN = 100

_WHITE = r"(?:#fff(?:fff)?\b|white\b|rgba?\(\s*255\s*,\s*255\s*,\s*255|transparent\b)"
_HIDING = re.compile(
    r"(?:^|;)\s*(?:"
    r"display\s*:\s*none"
    r"|visibility\s*:\s*(?:hidden|collapse)"
    r"|opacity\s*:\s*0*\.?0*(?![\d.]*[1-9])\s*(?:;|!|$)"
    r"|font(?:-size)?\s*:\s*(?:[^;]*\s)?(?:0(?:\.\d+)?|1(?:\.\d+)?)(?:px|pt|em|rem|%)?\s*(?:[;!/]|$)"
    r"|(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip(?:-path)?\s*:\s*(?:rect\(\s*0|inset\(\s*(?:50|100)%)"
    r"|(?:max-)?(?:width|height)\s*:\s*0(?:px|em|%)?\s*(?:;|!|$)"
    r"|mso-hide\s*:\s*all"
    r")",
    re.IGNORECASE,
)
_WHITE_TEXT = re.compile(rf"(?:^|;)\s*color\s*:\s*{_WHITE}", re.IGNORECASE)
_BACKGROUND = re.compile(rf"background(?:-color)?\s*:\s*(?!\s*{_WHITE})", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
_BLANKS = re.compile(r"[ \t\n\r\f]+")


def read_html(raw: bytes, limits: Limits) -> tuple[str, Omitted]:
    """The text, and how much of it the page's own markup and styles hide.

    Raises:
        Refused: the page nests its elements without end.
    """
    parser = extra_module("selectolax.lexbor", "files")
    if len(raw) > limits.unpacked_bytes:
        raise Refused(f"has {len(raw)} bytes")
    tree = parser.LexborHTMLParser(_decoded(raw))
    omitted = Omitted()
    hiding = _hiding_selectors(tree)
    for node in tree.css(_NEVER_SHOWN):
        node.decompose()
    body = tree.body or tree.root
    if body is None:
        return "", omitted
    for node in _hidden(body, hiding, parser.SelectolaxError):
        omitted["hidden"] += len("".join(node.text().split()))
        node.decompose()
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


def _hiding_selectors(tree: Any) -> list[str]:
    selectors = []
    for style in tree.css("style"):
        for rule in _RULE.finditer(_COMMENT.sub(" ", style.text())):
            if _hides(rule[2]):
                selectors.append(rule[1].strip())
    return selectors[:_MAX_RULES]


def _hidden(body: Any, selectors: list[str], error: type[Exception]) -> list[Any]:
    """The outermost elements that nobody sees."""
    found = [*body.css("[hidden]"), *body.css("input[type=hidden]")]
    found += [node for node in body.css("[style]") if _hides(node.attributes.get("style") or "")]
    found += [
        node
        for node in body.css("font[color]")
        if re.fullmatch(_WHITE, node.attributes.get("color") or "", re.IGNORECASE)
    ]
    for selector in selectors:
        try:
            found += body.css(selector)
        except (error, ValueError):  # one that the parser does not know, such as of a media rule
            continue
    known = {node.mem_id for node in found}
    return [node for node in _unique(found) if not _inside(node, known)]


def _unique(nodes: list[Any]) -> list[Any]:
    return list({node.mem_id: node for node in nodes}.values())


def _inside(node: Any, known: set[int]) -> bool:
    above, steps = node.parent, 0
    while above is not None and steps < _MAX_DEPTH:
        if above.mem_id in known:
            return True
        above, steps = above.parent, steps + 1
    return False


def _hides(style: str) -> bool:
    white = _WHITE_TEXT.search(style) and not _BACKGROUND.search(style)
    return bool(white or _HIDING.search(style))


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
        if depth > _MAX_DEPTH:
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
