"""QuIP: how much of a text is quoted, by character n-grams.

Weller et al. 2024, "According to ...", section 3.2: the share of a text's character n-grams that
stand in the corpus, there Wikipedia, here the context. The paper tunes n on its development set
and takes 21.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

N = 21


def normal(text: str) -> str:
    """``text`` in small letters, every run of blanks one blank: a line break changes no quote."""
    return " ".join(text.casefold().split())


def n_grams(text: str, n: int) -> Iterator[str]:
    """Every stretch of ``n`` characters; the whole text where it is shorter.

    Raises:
        ValueError: n is below 1.
    """
    if n < 1:
        raise ValueError("an n-gram has at least one character")
    for start in range(max(1, len(text) - n + 1)):
        yield text[start : start + n]


def quoted(sentences: Sequence[str], context: Sequence[str], n: int = N) -> list[float]:
    """For each sentence the share in [0, 1] of its n-grams that stand in a passage of ``context``.

    Passages are searched as they are: an n-gram across two of them is a quote of neither.
    """
    texts = [normal(text) for text in context]
    known: set[str] = set()
    for text in texts:
        known.update(text[start : start + n] for start in range(len(text) - n + 1))
    shares = []
    for sentence in sentences:
        grams = list(n_grams(normal(sentence), n))
        found = sum(
            gram in known if len(gram) == n else any(gram in text for text in texts)
            for gram in grams
        )
        shares.append(found / len(grams))
    return shares
