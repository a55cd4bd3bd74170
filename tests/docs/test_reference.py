"""The reference page says what the code says."""

import importlib.util
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"


def test_reference_page_is_what_the_code_generates():
    """`make reference` was run after the last change of a command, a setting or a topic."""
    spec = importlib.util.spec_from_file_location("reference", PAGE.with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert PAGE.read_text() == module.reference(), "run `make reference` and commit the page"
