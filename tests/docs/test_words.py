"""Docstrings, comments, messages and pages are free of words that hide who does what."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = (
    *("schemas", "agents", "scoring_worker", "streams", "recipes", "research", "benchmarks"),
    *("tools", "weights"),
)
"""Beside `safepassage/` itself, whose links lead to the first four."""
FORBIDDEN = re.compile(r"\b(stands?|stood|is none|whatever|whoever|borne out)\b", re.IGNORECASE)
FIELD = re.compile(r"\{[^{}]*\}")
CODE = re.compile(r"```.*?```|`[^`\n]*`|<!-- generated: .*?<!-- end of [^>]*-->", re.DOTALL)
TAGS = re.compile(r"\{[%{].*?[%}]\}|<[^>]*>", re.DOTALL)


def sources() -> list[Path]:
    below = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    own = [p for p in (ROOT / "safepassage").rglob("*.py") if p.resolve() == p]
    return sorted({*below, *own})


def pages() -> list[Path]:
    """CONTRIBUTING has examples of both kinds."""
    templates = (ROOT / "streams").rglob("*.html")
    return sorted(
        {ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"), *templates}
    )


def words_of(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every comment, and of every string that is more than one word."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
        elif token.type == tokenize.STRING and re.search(r"\s", token.string):
            yield token.start[0], FIELD.sub("", token.string)


def found_in(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        said = words_of(text)
    else:
        said = iter([(1, (CODE if path.suffix == ".md" else TAGS).sub("", text))])
    return [
        f"{path.relative_to(ROOT)}:{line + words.count(chr(10), 0, hit.start())}: {hit[0]!r}"
        for line, words in said
        for hit in FORBIDDEN.finditer(words)
        if hit[0] != "is None"
    ]


def test_no_forbidden_word_is_in_a_docstring_a_comment_or_a_message():
    assert [hit for path in sources() for hit in found_in(path)] == []


def test_no_forbidden_word_is_on_a_page():
    assert [hit for path in pages() for hit in found_in(path)] == []


@pytest.mark.parametrize(
    ("source", "hits"),
    [
        ('"""Where it stands."""', 1),
        ("x = 1  # whatever comes", 1),
        ('raise ValueError(f"{stands} of them is none")', 1),
        ('{"stands": stands.reviewer}', 0),
        ("x is None", 0),
        ('"""True if it is None."""', 0),
    ],
)
def test_the_words_are_found_in_strings_and_comments_only(source, hits, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.docs.test_words.ROOT", tmp_path)
    path = tmp_path / "module.py"
    path.write_text(source + "\n")
    assert len(found_in(path)) == hits
