"""A retrieved text as claims are aligned with it: which sentences may support a claim."""

from collections.abc import Sequence
from itertools import pairwise

from safepassage.schemas import Alignment, Span
from safepassage.schemas.alignment import MAX_ABSENT
from safepassage.schemas.claim import PASSAGE_SEPARATOR
from safepassage.schemas.evidence import ConsultedPassage, Stretch

from .claim_content import content_of
from .retrieval import Retrieved, Retriever
from .surroundings import DocumentLayout, with_surroundings

RETRIEVER_VERSION = "6"
"""On the alignment of every claim: changes where another passage could be retrieved, or more
is said of it."""
_THRESHOLD = 0.6
"""A sentence is found at 1.0, or not at 0.0."""


class PassageIndex:
    """A retrieved text, split and counted once for all claims on it.

    ``starts`` are where its passages begin, in order and 0 first; without them it is one passage.
    """

    def __init__(self, text: str, starts: Sequence[int] = ()) -> None:
        self._text = text
        self._layout = DocumentLayout(text)
        self._starts = tuple(starts) or (0,)
        edges = pairwise((*self._starts, len(text) + len(PASSAGE_SEPARATOR)))
        self._retriever = Retriever([text[a : b - len(PASSAGE_SEPARATOR)] for a, b in edges])

    def retrieve(self, claim: str) -> Alignment:
        """The sentences that share most with ``claim``, in document order.

        What is shared counts by its rarity in the text. The score is 1.0, as every span is
        copied from the text, and 0.0 without spans where nothing is shared. M and L are the
        characters of the spans; ``consulted`` says of which passage each of them is, ``absent``
        which words of the claim no passage has.
        """
        claim = content_of(claim)
        found = self._retriever.retrieve(claim)
        spans = [self._span(one) for one in found]
        characters = sum(len(span.text) for span in spans)
        alignment = Alignment(
            score=1.0 if spans else 0.0,
            matches=characters,
            length=characters,
            unaligned=0,
            threshold=_THRESHOLD,
            spans=tuple(spans),
            occurrences=1 if spans else 0,
            route="retrieved",
            aligner=RETRIEVER_VERSION,
            consulted=tuple([_consulted(one) for one in found]),
            absent=tuple(
                [Stretch(start=a, end=b) for a, b in self._retriever.absent(claim)[:MAX_ABSENT]]
            ),
        )
        return with_surroundings(alignment, self._layout) if spans else alignment

    def _span(self, found: Retrieved) -> Span:
        start, end = (self._starts[found.passage] + at for at in (found.start, found.end))
        return Span(start=start, end=end, text=self._text[start:end])


def _consulted(found: Retrieved) -> ConsultedPassage:
    share = round(found.share, 4)
    return ConsultedPassage(passage=found.passage, start=found.start, end=found.end, score=share)
