"""DOCX: paragraphs, headings and tables in the order of the file. A Word file has no pages until
a program breaks it into some, so there is no layout."""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from .composition import row_line
from .file_documents import Omitted
from .limits import Limits, Refused, extra_module

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_ENCRYPTED = b"\xd0\xcf\x11\xe0"
_SMALLEST_HALF_POINTS = 5
_MAX_MEMBERS = 5_000
_MAX_RATIO = 200
_MAX_DEPTH = 200
_EMPTY_LINES = re.compile(r"\n(?:[ ]*\n){2,}")
_BREAKS = {"br": "\n", "cr": "\n", "tab": "\t", "noBreakHyphen": "-", "softHyphen": ""}
_SKIPPED = {"del", "moveFrom", "delText", "instrText", "footnoteReference", "commentReference"}


def read_docx(raw: bytes, limits: Limits) -> tuple[str, Omitted]:
    """The text, and what Word hides of it. Raises `Refused`: encrypted, damaged, or larger unpacked
    than ``limits`` allow."""
    if raw.startswith(_ENCRYPTED):
        raise Refused("is encrypted, or in the format of Word before 2007")
    docx = extra_module("docx", "files")
    _check_archive(raw, limits)
    try:
        document = docx.Document(io.BytesIO(raw))
        reader = _Reader(document)
        lines = list(reader.lines())
    except Refused:
        raise
    except Exception as error:  # many kinds, of zip, XML and package
        raise Refused("is damaged: no Word file can be read") from error
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip("\n"), reader.omitted


def _check_archive(raw: bytes, limits: Limits) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise Refused("is damaged or cut short: no Word file can be read") from error
    if any(member.flag_bits & 1 for member in members):
        raise Refused("is encrypted")
    unpacked = sum(member.file_size for member in members)
    # Sizes in the directory may lie: the process that reads has its own bound on memory.
    if unpacked > min(limits.unpacked_bytes, _MAX_RATIO * len(raw)) or len(members) > _MAX_MEMBERS:
        raise Refused(f"unpacks to {unpacked} bytes in {len(members)} parts; that is a bomb")


class _Reader:
    def __init__(self, document: Any) -> None:
        self._document = document
        self._hidden_styles = self._styles_that_hide()
        self.omitted = Omitted()

    def lines(self) -> Iterator[str]:
        """The lines of the text; an empty one between paragraphs."""
        yield from self._margins("header")
        yield from self._blocks(self._document.element.body, 0)
        yield from self._notes()
        yield from self._margins("footer")

    def _margins(self, kind: str) -> Iterator[str]:
        seen: set[str] = set()
        for section in self._document.sections:
            margin = getattr(section, kind)
            if margin.is_linked_to_previous:
                continue
            lines = list(self._blocks(margin._element, 0))
            if (text := "\n".join(lines)).strip() and text not in seen:
                seen.add(text)
                yield from lines

    def _notes(self) -> Iterator[str]:
        etree = extra_module("lxml.etree", "files")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        for part in self._document.part.package.iter_parts():
            if str(part.partname) in ("/word/footnotes.xml", "/word/endnotes.xml"):
                for note in etree.fromstring(part.blob, parser):
                    if note.get(f"{_WORD}type") in (None, "normal"):
                        yield from self._blocks(note, 0)

    def _blocks(self, parent: Any, depth: int) -> Iterator[str]:
        if depth > _MAX_DEPTH:
            raise Refused("is nested without end")
        for child in parent:
            name = _name(child)
            if name == "p":
                yield from (*self._paragraph(child).split("\n"), "")
            elif name == "tbl":
                yield from (*self._table(child, depth), "")
            elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
                yield from self._blocks(child, depth + 1)

    def _table(self, table: Any, depth: int) -> Iterator[str]:
        above: dict[int, str] = {}
        for row in table.iter(f"{_WORD}tr"):
            if next(row.iterancestors(f"{_WORD}tbl")) is not table:
                continue
            cells: list[str] = []
            for cell in row.iterchildren(f"{_WORD}tc"):
                text = " ".join(self._blocks(cell, depth + 1))
                spans = _attribute(cell, "tcPr", "gridSpan")
                merge = cell.find(f"{_WORD}tcPr/{_WORD}vMerge")
                if merge is not None and merge.get(f"{_WORD}val") != "restart":
                    text = above.get(len(cells), "")  # it spans down to here, and names this row
                above[len(cells)] = text
                cells += [text, *[""] * (max(1, min(int(spans or 1), 100)) - 1)]
            if any(cell.strip() for cell in cells):
                yield row_line(cells)

    def _paragraph(self, paragraph: Any) -> str:
        style = _attribute(paragraph, "pPr", "pStyle")
        parts: list[str] = []
        self._gather(paragraph, style in self._hidden_styles, parts, 0)
        return "".join(parts)

    def _gather(self, element: Any, hidden: bool, parts: list[str], depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise Refused("is nested without end")
        for child in element:
            name = _name(child)
            if name in _SKIPPED or child.tag == _FALLBACK:
                continue
            if name == "t":
                text = child.text or ""
                if hidden:
                    self.omitted["hidden"] += len(text)
                else:
                    parts.append(text)
            elif name in _BREAKS and child.tag.startswith(_WORD):
                parts.append("" if hidden else _BREAKS[name])
            elif name == "txbxContent":
                parts.append("\n" + "\n".join(self._blocks(child, depth + 1)).strip() + "\n")
            elif child.tag == f"{_DRAWING}blip":
                self.omitted["picture"] += 1
            else:
                gone = hidden or (name == "r" and self._hides(child))
                self._gather(child, gone, parts, depth + 1)

    def _hides(self, run: Any) -> bool:
        properties = run.find(f"{_WORD}rPr")
        if properties is None:
            return False
        style = properties.find(f"{_WORD}rStyle")
        named = style is not None and style.get(f"{_WORD}val") in self._hidden_styles
        return named or _hides(properties)

    def _styles_that_hide(self) -> set[str | None]:
        hiding = set()
        for style in self._document.styles.element.iter(f"{_WORD}style"):
            properties = style.find(f"{_WORD}rPr")
            if properties is not None and _hides(properties):
                hiding.add(style.get(f"{_WORD}styleId"))
        return hiding


def _hides(properties: Any) -> bool:
    """Whether run properties make text that nobody sees: hidden, white on nothing, tiny."""
    vanish = properties.find(f"{_WORD}vanish")
    if vanish is not None and vanish.get(f"{_WORD}val") not in ("0", "false", "off"):
        return True
    color = properties.find(f"{_WORD}color")
    white = color is not None and (color.get(f"{_WORD}val") or "").upper() == "FFFFFF"
    shaded = any(properties.find(f"{_WORD}{name}") is not None for name in ("shd", "highlight"))
    size = properties.find(f"{_WORD}sz")
    points = size.get(f"{_WORD}val") if size is not None else None
    tiny = bool(points and points.isdecimal() and int(points) < _SMALLEST_HALF_POINTS)
    return (white and not shaded) or tiny


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _attribute(element: Any, properties: str, name: str) -> str | None:
    found = element.find(f"{_WORD}{properties}/{_WORD}{name}")
    value = found.get(f"{_WORD}val") if found is not None else None
    return str(value) if value is not None else None
