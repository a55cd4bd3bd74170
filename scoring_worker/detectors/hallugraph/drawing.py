"""The graph of an answer as a picture: what is supported, what is missing, what is unsupported.

Entities are on an ellipse, relations are lines across it. A line that is broken, and an entity in
a broken frame, is not supported, so that no colour has to be told apart. `svg` needs no script, no
style sheet and no font; the entities are shown as text and as nothing else.
"""

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from safepassage.schemas.evidence import JudgedTriple, TripleStatus

PICTURE_KINDS: Final = frozenset({".svg", ".png", ".pdf"})
MAX_NODES: Final = 24
MAX_LINES: Final = 40
MAX_LABEL: Final = 28
MAX_RELATION: Final = 120
MAX_LABELLED: Final = 14
"""Lines that have their words beside them; of more, they are found by pointing at a line."""
_WORDS_OF_LINE = 22
WIDTH: Final = 640
_ROW = 34
_MARGIN = 40
_INNER = 0.5
"""Of the width between the entities: labels are outside the ellipse."""
_COLOURS: Final[dict[TripleStatus, str]] = {
    "supported": "#2a7f62",
    "missing_entity": "#b3391f",
    "unsupported": "#b3391f",
    "undetermined": "#8a6d1d",
}
_SAID: Final[dict[TripleStatus, str]] = {
    "supported": "supported",
    "missing_entity": "an entity is missing in the passages",
    "unsupported": "no such relation in the passages",
    "undetermined": "could not be compared",
}
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Node:
    """An entity at ``x``, ``y``; ``missing`` where it is in no passage."""

    text: str
    x: float
    y: float
    missing: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A relation between the nodes number ``start`` and ``end``."""

    start: int
    end: int
    text: str
    status: TripleStatus


@dataclass(frozen=True, slots=True)
class Drawing:
    """At most `MAX_NODES` nodes and `MAX_LINES` lines; ``left_out`` counts the triples that found
    no room."""

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    height: int
    left_out: int = 0


def draw(triples: Iterable[JudgedTriple]) -> Drawing:
    """Lay out ``triples``, the first ones where there are too many."""
    names: dict[str, bool] = {}
    kept: list[JudgedTriple] = []
    left_out = 0
    for triple in triples:
        ends = dict.fromkeys(end for end in (triple.subject, triple.object) if end)
        new = sum(end not in names for end in ends)
        if len(names) + new > MAX_NODES or len(kept) == MAX_LINES:
            left_out += 1
            continue
        for end in ends:
            names[end] = names.get(end, False) or end in triple.missing
        kept.append(triple)
    numbers = {name: number for number, name in enumerate(names)}
    lines = [
        Line(numbers[t.subject], numbers[t.object], plain(t.relation, MAX_RELATION), t.status)
        for t in kept
        if t.object
    ]
    height = max(120, _ROW * math.ceil(len(names) / 2) + 2 * _MARGIN)
    return Drawing(tuple(_placed(names, height)), tuple(lines), height, left_out)


def svg(drawing: Drawing) -> str:
    """The drawing as one SVG element. Text is in the colour of the text around it."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {drawing.height}" '
        'role="img" font-size="13" font-family="sans-serif" fill="currentColor">',
        f"<title>{escape(summary(drawing))}</title>",
        *(_line(drawing.nodes, line) for line in drawing.lines),
        *(
            f'<text x="{x}" y="{y}" font-size="10" text-anchor="middle" opacity="0.75">'
            f"{escape(words)}</text>"
            for x, y, words in _labels(drawing)
        ),
        *map(_node, drawing.nodes),
        "</svg>",
    ]
    return "".join(parts)


def check_kind(path: Path) -> None:
    """Refuse a file that `save` does not write. Raises `ValueError` where it is of another kind."""
    if path.suffix not in PICTURE_KINDS:
        raise ValueError("a picture is .svg, .png or .pdf")


def save(drawing: Drawing, path: Path) -> None:
    """Write the picture: ``.svg``, or ``.png`` and ``.pdf`` by matplotlib. Raises `ValueError`
    where a file of another kind is asked for; `OSError` where it cannot be written."""
    check_kind(path)
    if path.suffix == ".svg":
        path.write_text(svg(drawing), encoding="utf-8")
    else:
        _plot(drawing, path)


def summary(drawing: Drawing) -> str:
    """The drawing in one line, for who does not see it."""
    missing = sum(node.missing for node in drawing.nodes)
    wrong = sum(line.status != "supported" for line in drawing.lines)
    more = f"; {drawing.left_out} more are not drawn" if drawing.left_out else ""
    return (
        f"{len(drawing.nodes)} entities, {missing} missing in the passages; "
        f"{len(drawing.lines)} relations, {wrong} not supported{more}"
    )


def plain(text: str, most: int) -> str:
    """``text`` in one line of at most ``most`` characters, without signs that cannot be seen."""
    seen = "".join(" " if unicodedata.category(sign) in _HIDDEN else sign for sign in text)
    line = " ".join(seen.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _placed(names: dict[str, bool], height: int) -> Iterator[Node]:
    for number, (name, missing) in enumerate(names.items()):
        angle = 2 * math.pi * (number + 0.5) / len(names)
        x = WIDTH / 2 + _INNER * WIDTH / 2 * math.sin(angle)
        y = height / 2 - (height / 2 - _MARGIN) * math.cos(angle)
        yield Node(plain(name, MAX_LABEL), round(x, 1), round(y, 1), missing)


def _line(nodes: Sequence[Node], line: Line) -> str:
    one, other = nodes[line.start], nodes[line.end]
    broken = "" if line.status == "supported" else ' stroke-dasharray="5 4"'
    said = f"{one.text} — {line.text or '…'} — {other.text}: {_SAID[line.status]}"
    return (
        f'<line x1="{one.x}" y1="{one.y}" x2="{other.x}" y2="{other.y}" '
        f'stroke="{_COLOURS[line.status]}" stroke-width="1.6"{broken}>'
        f"<title>{escape(said)}</title></line>"
    )


def _labels(drawing: Drawing) -> Iterator[tuple[float, float, str]]:
    """The words of the lines, in the middle of each, where there are few."""
    for line in drawing.lines if len(drawing.lines) <= MAX_LABELLED else ():
        one, other = drawing.nodes[line.start], drawing.nodes[line.end]
        if line.text:
            x, y = (one.x + other.x) / 2, (one.y + other.y) / 2
            yield round(x, 1), round(y - 3, 1), plain(line.text, _WORDS_OF_LINE)


def _node(node: Node) -> str:
    right = node.x >= WIDTH / 2
    anchor = "start" if right else "end"
    x = round(node.x + (9 if right else -9), 1)
    colour = _COLOURS["missing_entity" if node.missing else "supported"]
    broken = ' stroke-dasharray="2 2"' if node.missing else ""
    mark = " (missing)" if node.missing else ""
    return (
        f'<circle cx="{node.x}" cy="{node.y}" r="5" fill="none" stroke="{colour}" '
        f'stroke-width="2"{broken}/>'
        f'<text x="{x}" y="{node.y + 4}" text-anchor="{anchor}">{escape(node.text + mark)}</text>'
    )


def _plot(drawing: Drawing, path: Path) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import

    figure = Figure(figsize=(WIDTH / 80, drawing.height / 80), dpi=160)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(drawing.height, 0)
    axes.set_axis_off()
    for line in drawing.lines:
        one, other = drawing.nodes[line.start], drawing.nodes[line.end]
        style = "-" if line.status == "supported" else "--"
        axes.plot([one.x, other.x], [one.y, other.y], style, color=_COLOURS[line.status], lw=1.2)
    for x, y, words in _labels(drawing):
        axes.annotate(_verbatim(words), (x, y), ha="center", fontsize=6, color="#555555")
    for node in drawing.nodes:
        right = node.x >= WIDTH / 2
        colour = _COLOURS["missing_entity" if node.missing else "supported"]
        axes.plot([node.x], [node.y], "o", mfc="white", mec=colour, ms=7)
        mark = " (missing)" if node.missing else ""
        axes.annotate(
            _verbatim(f"{node.text}{mark}"),
            (node.x, node.y),
            xytext=(8 if right else -8, 0),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center",
            fontsize=8,
        )
    figure.savefig(path)


def _verbatim(text: str) -> str:
    """For matplotlib, to which a dollar begins a formula."""
    return text.replace("$", r"\$")
