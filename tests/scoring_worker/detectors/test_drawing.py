"""The graph of an answer as a picture: bounded, escaped, and told without colours."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas.evidence import JudgedTriple
from safepassage.scoring_worker.detectors.hallugraph.drawing import (
    MAX_LABEL,
    MAX_LINES,
    MAX_NODES,
    WIDTH,
    draw,
    plain,
    save,
    svg,
)

SVG = "{http://www.w3.org/2000/svg}"
labels = st.text(max_size=40)


def triple(subject: str, relation: str, target: str, status: str = "supported", *missing: str):
    return JudgedTriple.model_validate(
        {"subject": subject, "relation": relation, "object": target, "status": status}
        | {"missing": missing}
    )


def parsed(*triples: JudgedTriple) -> ElementTree.Element:
    return ElementTree.fromstring(svg(draw(triples)))  # noqa: S314 - our own


def test_what_is_not_supported_is_broken_and_says_so():
    root = parsed(
        triple("Acme", "sued", "Smith"),
        triple("Acme", "paid", "Brown", "missing_entity", "Brown"),
        triple("Smith", "owns", "Acme", "unsupported"),
    )
    lines = root.findall(f"{SVG}line")
    assert [line.get("stroke-dasharray") is None for line in lines] == [True, False, False]
    assert "no such relation" in (lines[2].findtext(f"{SVG}title") or "")
    told = [t.text for t in root.findall(f"{SVG}text")]
    assert told == ["sued", "paid", "owns", "Acme", "Smith", "Brown (missing)"]
    assert root.findtext(f"{SVG}title") == (
        "3 entities, 1 missing in the passages; 3 relations, 2 not supported"
    )


def test_a_missing_entity_without_a_relation_is_drawn_too():
    root = parsed(triple("Brown", "", "", "missing_entity", "Brown"))
    assert [t.text for t in root.findall(f"{SVG}text")] == ["Brown (missing)"]
    assert root.findall(f"{SVG}line") == []


@given(st.lists(st.tuples(labels.filter(bool), labels, labels), max_size=60))
def test_any_graph_is_well_formed_bounded_and_inside_the_frame(edges):
    drawing = draw([triple(*edge) for edge in edges])
    assert len(drawing.nodes) <= MAX_NODES
    assert len(drawing.lines) <= MAX_LINES
    assert all(len(node.text) <= MAX_LABEL for node in drawing.nodes)
    assert all(0 <= node.x <= WIDTH and 0 <= node.y <= drawing.height for node in drawing.nodes)
    root = ElementTree.fromstring(svg(drawing))  # noqa: S314 - our own
    assert {e.tag for e in root.iter()} <= {
        f"{SVG}{tag}" for tag in ("svg", "title", "line", "circle", "text")
    }


def test_an_entity_cannot_bring_markup_or_turn_the_text_around():
    drawn = svg(draw([triple('<script>"x"</script>', "&amp;", "a\u202eb\x00\ud7ff")]))
    assert "<script" not in drawn
    assert "\u202e" not in drawn
    assert "\x00" not in drawn


def test_what_finds_no_room_is_counted():
    drawing = draw([triple(f"a{n}", "r", f"b{n}") for n in range(30)])
    assert (len(drawing.nodes), drawing.left_out) == (24, 18)
    assert "18 more are not drawn" in svg(drawing)


def test_a_picture_is_written_in_the_form_its_name_says(tmp_path):
    drawing = draw([triple("Acme $5", "sued", "Smith_1$")])
    for suffix, begins in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        save(drawing, tmp_path / f"graph{suffix}")
        assert (tmp_path / f"graph{suffix}").read_bytes().startswith(begins)
    with pytest.raises(ValueError, match=r"\.svg, \.png or \.pdf"):
        save(drawing, tmp_path / "graph.bmp")


def test_a_label_is_one_line():
    assert plain("a\nb\tc", 10) == "a b c"
    assert plain("x" * 40, 10) == "xxxxxxxxx…"
