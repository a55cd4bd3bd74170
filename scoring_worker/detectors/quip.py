"""QuIP (*Measuring the Groundedness of Legal Question-Answering Systems*, section 5.1).

QuIP (Weller et al. 2024, "According to ...", section 3.2) is the share of a text's character
n-grams that are in the corpus, there Wikipedia, here the context. The paper tunes n on its
development set and takes 21.
"""

from collections.abc import Iterator, Sequence

from safepassage.passages.granularity import claims
from safepassage.scoring_worker.manifest import ModelError

from .contract import Answer, ClaimGrounding, DetectorSettings, Grounding

N = 21


def normal(text: str) -> str:
    """``text`` in small letters, every run of blanks one blank: a line break changes no quote."""
    return " ".join(text.casefold().split())


def n_grams(text: str, n: int) -> Iterator[str]:
    """Every stretch of ``n`` characters (at least 1); the whole text where it is shorter."""
    for start in range(max(1, len(text) - n + 1)):
        yield text[start : start + n]


def quoted(sentences: Sequence[str], context: Sequence[str], n: int = N) -> list[float]:
    """For each sentence the share in [0, 1] of its n-grams that are in a passage of ``context``.

    Passages are searched as they are: an n-gram across two of them is a quote of neither.
    """
    texts = [normal(text) for text in context]
    known = {gram for text in texts for gram in n_grams(text, n)}
    shares = []
    for sentence in sentences:
        grams = list(n_grams(normal(sentence), n))
        found = sum(
            gram in known if len(gram) == n else any(gram in text for text in texts)
            for gram in grams
        )
        shares.append(found / len(grams))
    return shares


MAX_PASSAGES = 20_000
"""Of one context: more would be a corpus, and memory."""


class QuIP:
    """Scores every sentence by the share of its stretches of ``n`` characters that are in a passage
    of the context. The answer is worth the mean of its sentences: hardly any is a quote from end to
    end."""

    name = "quip"

    def __init__(self, n: int = N) -> None:
        self.revision = f"quip-{n}"
        self._n = n

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order."""
        return [self._ground(answer) for answer in answers]

    def close(self) -> None:
        """Nothing is held open."""

    def _ground(self, answer: Answer) -> Grounding:
        passages = [text for text in answer.context if text.strip()]
        places = claims(answer.response)
        if not passages or not places:
            return Grounding.undetermined("no_context" if not passages else "no_claims")
        if len(passages) > MAX_PASSAGES:
            return Grounding.undetermined("context_too_long")
        shares = quoted([answer.response[start:end] for start, end in places], passages, self._n)
        judged = [
            ClaimGrounding(*place, share) for place, share in zip(places, shares, strict=True)
        ]
        return Grounding(score=sum(shares) / len(shares), claims=tuple(judged))


def load_quip(settings: DetectorSettings) -> QuIP:
    """QuIP with n-grams of 21 characters, or as many as ``settings.model`` says ("quip=13"). Raises
    `ModelError` where that is no number of characters."""
    given = settings.model or str(N)
    if not given.isdecimal() or int(given) < 1:
        raise ModelError(f"quip takes a number of characters as its model, not {given!r}")
    return QuIP(int(given))
