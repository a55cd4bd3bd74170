"""Whether a word of a folded passage is denied by the words right before it."""

import re

_DENIED = re.compile(
    r"(?:\b(?:not|never|nor|neither|without|cannot)|\bno(?=\s[a-z])|n't)"
    r"(?!\s(?:later|less|more|exceed|exceeding|only|earlier|fewer|limited|before|until|known))"
    r"((?:\s\w+)*)\W*$"
)
_REACH = 48


def is_denied(folded: str, at: int, words: int = 2) -> bool:
    """Whether a denial is at most ``words`` words before ``at`` ("may not keep poultry")."""
    match = _DENIED.search(folded[max(0, at - _REACH) : at])
    return match is not None and len(match[1].split()) <= words
