"""The report holds every verdict at its place, and nothing of a document is anything but text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser
from typer.testing import CliRunner

from safepassage import Extraction, Result, Verifier
from safepassage.report import framed, report
from safepassage.report.marks import Mark, marks_of, segments
from safepassage.schemas import Document
from safepassage.schemas.layout import Layout, PageSize, Region
from safepassage.streams.cli import app
from tests.safepassage.scorers import WordScorer

from .made import HOSTILE, TEXT, VERDICTS, document, verdict


def parsed(html: str) -> LexborHTMLParser:
    return LexborHTMLParser(html)


@pytest.mark.parametrize("pages", [False, True])
def test_the_page_has_one_script_and_asks_for_nothing(pages: bool):
    """Hostile text stays text, whatever it holds; the policy lets nothing else run or load."""
    page = parsed(report([document(pages=pages)], VERDICTS, title=HOSTILE))
    assert len(page.css("script")) == 1
    assert not page.css("img, iframe, link, object, embed, [src], [href], [style], [onerror]")
    (policy,) = page.css("meta[http-equiv]")
    said = policy.attributes["content"]
    assert said.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in said
    assert HOSTILE in page.css_first("pre.text").text()
    assert HOSTILE in page.css_first(".card.quarantined").text()


def test_the_text_is_whole_and_every_value_is_marked_by_its_verdict():
    page = parsed(report([document()], VERDICTS))
    assert page.css_first("pre.text").text() == TEXT
    marked = {
        mark.attributes["data-v"]: mark.attributes["class"]
        for mark in page.css("mark")
        if "value" not in (mark.attributes["class"] or "")
    }
    assert marked["0"] == "accepted"
    assert marked["2"] == "quarantined"
    assert "3" not in marked, "a quote that was not found has no place"
    values = {mark.attributes["data-v"]: mark.text() for mark in page.css("mark.value")}
    assert values == {"0": "£1,250", "1": "£1,500", "4": "twelve months"}
    assert [card.attributes["data-decision"] for card in page.css(".card")] == [
        v.decision for v in VERDICTS
    ]
    assert "deposit.amount (Amount)" in page.css(".card")[1].text()
    assert "score 0.90, threshold 0.45" in page.css(".card")[0].text()


def test_a_layout_gives_pages_with_boxes():
    page = parsed(report([document(pages=True)], VERDICTS))
    boxes = [box.attributes["data-v"] for box in page.css("rect.box")]
    assert sorted(set(boxes)) == ["0", "1", "2", "4"]
    assert "rent" in page.css_first("g.words").text()
    assert not parsed(report([document()], VERDICTS)).css("svg .box, .page")


def test_words_of_a_line_stand_on_one_height():
    """Boxes may end with the ink of each word: "a" is lower than "b" and ends above "y"."""
    boxes = [(10, 54, 60), (30, 50, 60), (50, 54, 63), (10, 74, 80), (90, 73, 81)]
    words = "a b y a ("
    regions = (Region(2 * n, 2 * n + 1, 0, x, t, x + 9, b) for n, (x, t, b) in enumerate(boxes))
    layout = Layout(pages=(PageSize(100, 100),), regions=tuple(regions))
    page = parsed(report([Document(id="lease", text=words, layout=layout)], VERDICTS[3:4]))
    drawn = [word.attributes for word in page.css("g.words text")]
    for height in ("y", "font-size"):
        first, second = [word[height] for word in drawn[:3]], [word[height] for word in drawn[3:]]
        assert (len(set(first)), len(set(second))) == (1, 1)
    assert drawn[0]["y"] < drawn[3]["y"]


def test_what_a_lost_quote_is_most_like_is_shown_as_feedback_names_it():
    text = "The rent is due monthly. The lease ends on 31 May 2026 unless it is renewed."
    quote = "The lease will end on 31 May 2027 at noon, for ever and ever"
    with Verifier(WordScorer()) as verifier:
        result = verifier.verify(text, [Extraction("End", "31 May 2027", quote)])
    shown = parsed(result.html()).css_first(".card").text()
    (near,) = re.findall(r'nearest passage of the document: "(.*)"', result.feedback())
    assert "lease ends on 31 May 2026" in near
    assert near in shown


def test_a_verdict_without_its_document_is_there_without_a_text():
    page = parsed(report([], VERDICTS))
    assert len(page.css(".card")) == len(VERDICTS)
    assert not page.css("pre.text")
    assert "No verdict." in parsed(report([document()], [])).css_first("main").text()


def test_segments_overlap_and_lose_nothing():
    marks = [Mark(0, 4, 0), Mark(2, 6, 1), Mark(2, 3, 1, True), Mark(5, 99, 2), Mark(3, 3, 3)]
    found = list(segments("abcdefgh", marks))
    assert "".join(segment.text for segment in found) == "abcdefgh"
    assert [(s.text, s.numbers, s.is_value) for s in found] == [
        ("ab", (0,), False),
        ("c", (0, 1), True),
        ("d", (0, 1), False),
        ("ef", (1,), False),
        ("gh", (), False),
    ]
    assert marks_of(0, verdict("A", "x", "∆∆ §§ ##", "quarantined"), ()) == []


def test_what_cannot_be_printed_is_replaced():
    found = verdict("Rent", "a\x00\x1b[31mb", "a monthly rent of £1,250", "quarantined")
    html = report([document()], [found])
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", html)
    assert "a\ufffd\ufffd[31mb" in html


def test_a_result_shows_itself_in_notebooks():
    with Verifier(WordScorer()) as verifier:
        result = verifier.verify(TEXT, [Extraction("Rent", "£1,250", "a monthly rent of £1,250")])
        answered = verifier.claims(TEXT, "The rent is £1,250.")
    assert parsed(result.html()).css_first("mark.value").text() == "£1,250"
    assert parsed(answered.html()).css(".card")
    frame = parsed(result._repr_html_()).css_first("iframe")
    assert frame.attributes["sandbox"] == "allow-scripts"
    assert frame.attributes["srcdoc"] == result.html()
    assert framed(HOSTILE).count("<") == 2
    assert Result(())._repr_html_() is None
    with pytest.raises(ValueError, match="no document to show"):
        Result(()).html()


def test_check_writes_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("safepassage.scoring_worker.load_scorer", lambda *_, **__: WordScorer())
    (tmp_path / "d.jsonl").write_text('{"id":"d","text":"A monthly rent of £5 is due."}\n')
    (tmp_path / "e.jsonl").write_text(
        '{"id":"1","doc_id":"d","type":"Rent","value":"£5","quote":"monthly rent of £5"}\n'
    )
    (tmp_path / "r.jsonl").write_text('{"id":"r","context":"It rains.","response":"It rains."}\n')
    said = "check -d {0}/d.jsonl -e {0}/e.jsonl -r {0}/r.jsonl -o {0}/o.jsonl --html {0}/r.html"
    ended = CliRunner().invoke(app, said.format(tmp_path).split())
    assert ended.exit_code == 0, ended.output
    page = parsed((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert page.css_first("mark.value").text() == "£5"
    assert len(page.css("pre.text")) == 2
