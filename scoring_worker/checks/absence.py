"""Values that are none, and passages that say that there is none."""

from __future__ import annotations

import re

from scoring_worker.packs.folding import REDACTED, fold

_NONE = re.compile(
    r"n\s?/\s?a|n\.a\.|nil|none|null|not applicable|not available|not stated|not specified|unknown|"
    r"s\s?/\s?o|sans objet|neant|aucune?|unrepresented|self[- ]represented|no counsel|-+|"
)
_SAYS_NONE = re.compile(
    r"(?<![\w/])(?:n\s?/\s?a|nil|none|not applicable|s\s?/\s?o|sans objet|neant|aucune?|"
    r"unrepresented|self[- ]represented|not represented|non represente)(?![\w/])"
)
_DENIAL = re.compile(
    r"(?<!\w)(?:not|no|never|nor|neither|without|n't|denied|refused|failed to|ne|pas|aucune?|sans)"
    r"(?!\w)|n't\b"
)


def is_none(value: str) -> bool:
    """Whether ``value`` names nothing: "N/A", "None", blanks or a redaction."""
    folded = fold(value)
    return bool(_NONE.fullmatch(folded)) or not REDACTED.sub("", folded).strip(" ,.")


def says_none(folded: str) -> bool:
    """Whether a folded passage says "N/A", "Nil" or the like."""
    return _SAYS_NONE.search(folded) is not None


def denies(folded: str) -> bool:
    """Whether a folded passage holds a word of denial."""
    return _DENIAL.search(folded) is not None


def is_redacted(folded: str) -> bool:
    """Whether a court hid a part of the folded passage."""
    return REDACTED.search(folded) is not None
