"""The words of a language that CLDR lacks: one file a language, named by its ISO 639-1 code.

A line is ``section: phrase; phrase``; a section may have several. What a section means is said
where it is read: sections of one word in `comparison.denials.languages`, ``date …`` in
`comparison.dates.vague_words`, ``number …`` in `comparison.figures.spelling_tables`, ``bound …`` in
`comparison.figures.bounds`, ``noun …`` in `detectors.hallugraph.mentions`. A language may lack any
of them: what asks for them then knows nothing of that language.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from safepassage.scoring_worker.text.closed_classes import lines_of

Sections = Mapping[str, tuple[str, ...]]
"""Phrases, as they are written, by section."""

KINDS = ("date", "number", "bound", "noun")


@cache
def sections_by_language(kind: str | None) -> Mapping[str, Sections]:
    """The sections of one of `KINDS`, without that word, or (None) those of no kind; only of
    languages that have any."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(Path(__file__).parent.glob("*.txt")):
        for line in lines_of(path):
            name, _, phrases = line.partition(":")
            first, _, rest = name.partition(" ")
            own = first if first in KINDS else None
            if own == kind:
                words = filter(None, map(str.strip, phrases.split(";")))
                found.setdefault(path.stem, {}).setdefault(rest if own else name, []).extend(words)
    return {code: {name: tuple(w) for name, w in own.items()} for code, own in found.items()}
