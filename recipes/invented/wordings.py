"""Wordings the generators put around values, by language: ``wordings.json``, written here.

``{v}`` is the value in question, ``{w}`` another value of the same slot, ``{t}`` the name of the
slot. Each wording says what the passage then gives: see the field's comment.
"""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Wordings:
    """One language's wordings."""

    replaced: tuple[str, ...]
    """In the place of the value: w is given, v is not."""
    joined: tuple[str, ...]
    """In the place of the value: both are given, regardless of what negation there seems to be."""
    denied: tuple[str, ...]
    """Whole sentences: v is not given as t, and nothing else is."""
    supposed: tuple[str, ...]
    """Whole sentences: v is only supposed, asked, planned or a condition."""
    stated: tuple[str, ...]
    """Whole sentences: v is given as t, some in spite of a word of negation."""
    conditional: tuple[str, ...]
    """v holds for {a}, w for {b}."""
    asked_for: tuple[str, ...]
    """How a slot under a condition {c} is named."""
    conditions: tuple[str, ...]


WORDINGS = {
    language: Wordings(**{name: tuple(texts) for name, texts in own.items()})
    for language, own in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).items()
}
"""By language."""
