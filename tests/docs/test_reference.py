"""What the pages take from the code and from the measured files is what these say now."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tools.blocks import ROOT, filled, pages
from tools.reference import ASYNCAPI, MAKERS, asyncapi


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_generated_block_is_up_to_date(page: Path):
    """`make reference` was run after the last change of a command, a setting or a figure."""
    text = page.read_text(encoding="utf-8")
    assert text == filled(text, MAKERS), "run `make reference` and commit the page"


def test_every_generated_block_is_on_a_page():
    texts = "\n".join(page.read_text(encoding="utf-8") for page in pages())
    assert [name for name in MAKERS if f"<!-- generated: {name} -->" not in texts] == []


def test_only_what_is_between_the_marks_is_replaced():
    page = "before\n<!-- generated: a -->\nold\n<!-- end of a -->\nafter\n"
    expected = "before\n<!-- generated: a -->\n\nnew\n\n<!-- end of a -->\nafter\n"
    assert filled(page, {"a": lambda: "new"}) == expected


def test_a_block_without_an_end_is_refused():
    with pytest.raises(ValueError, match="without an end"):
        filled("<!-- generated: a -->\nold\n", {"a": lambda: "new"})


def test_a_block_that_nobody_makes_is_refused():
    with pytest.raises(KeyError):
        filled("<!-- generated: a -->\n<!-- end of a -->\n", {})


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed")
def test_the_site_builds_and_its_links_lead_somewhere(tmp_path: Path):
    """`make docs`: pages outside the navigation, broken links and anchors fail the build."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[-2000:]


def test_the_asyncapi_document_is_that_of_the_models():
    assert ASYNCAPI.read_text("utf-8") == asyncapi(), "run `make reference` and commit it"
