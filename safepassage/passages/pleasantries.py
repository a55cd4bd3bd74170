"""Sentences of an answer that claim nothing: greetings, offers of help, questions back.

No list of such sentences is kept. A sentence claims nothing where all of its words are of the few
with which people are greeted, thanked and offered help. One word more makes it a claim, which is
judged like any other; so does a figure, a name or a yes.
"""

import re
from pathlib import Path

from .claim_content import content_of

_WORD = re.compile(r"[\w'’]+")
_LISTS = Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n")
_WORDS_OF = {name: frozenset(words) for name, *words in map(str.split, _LISTS)}
_COURTESY = _WORDS_OF.pop("courtesies:")
"""One of these has to be there: "You can." answers a question."""
_DUTY = frozenset({"to", "zu"})
"""Before one of them they say what somebody has to do: "You have to let us know."."""


def claims_nothing(sentence: str) -> bool:
    """Whether ``sentence`` greets, thanks, offers or asks back, and says nothing else."""
    content = content_of(sentence)
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(content)]
    if not words or not any(spoken.issuperset(words) for spoken in _WORDS_OF.values()):
        return False
    if content.rstrip().endswith("?"):
        return True
    polite = [at for at, word in enumerate(words) if word in _COURTESY]
    return any(at == 0 or words[at - 1] not in _DUTY for at in polite)
