"""COS_SIM and QuIP as detectors (paper, section 5.1), and BERTScore, HalluGraph's baseline.

QuIP (Weller et al. 2024, "According to ...", section 3.2) is the share of a text's character
n-grams that stand in the corpus, there Wikipedia, here the context. The paper tunes n on its
development set and takes 21.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from safepassage.passages.granularity import (
    ANY_WINDOW_EVERY_CLAIM,
    MEAN_OVER_CLAIMS,
    Granularity,
    aggregate,
    claims,
)
from safepassage.schemas import stable_id
from safepassage.scoring_worker.detectors.contract import (
    Answer,
    ClaimGrounding,
    DetectorSettings,
    Grounding,
)
from safepassage.scoring_worker.manifest import ModelError

from .embedding import (
    DECIMALS,
    Embedder,
    Floats,
    SentenceEncoder,
    encoder_embedder,
    reader_embedder,
    similarities,
)

N = 21


def normal(text: str) -> str:
    """``text`` in small letters, every run of blanks one blank: a line break changes no quote."""
    return " ".join(text.casefold().split())


def n_grams(text: str, n: int) -> Iterator[str]:
    """Every stretch of ``n`` characters (at least 1); the whole text where it is shorter."""
    for start in range(max(1, len(text) - n + 1)):
        yield text[start : start + n]


def quoted(sentences: Sequence[str], context: Sequence[str], n: int = N) -> list[float]:
    """For each sentence the share in [0, 1] of its n-grams that stand in a passage of ``context``.

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


MAX_SENTENCES = 20_000
"""Sentences of one context: more would be a corpus, and memory."""

Judge = Callable[[Sequence[str], Sequence[str]], list[float]]
"""(sentences of the answer, sources) to a score for each of the first."""


class SimilarityDetector:
    """Scores every sentence of the answer by ``judge``; ``granularity`` says what the answer is
    worth of them. ``whole``: sources are passages, else sentences of them."""

    def __init__(
        self, name: str, revision: str, judge: Judge, granularity: Granularity, *, whole: bool
    ) -> None:
        self.name = name
        self.revision = revision
        self._judge = judge
        self._granularity = granularity
        self._whole = whole

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order."""
        return [self._ground(answer) for answer in answers]

    def close(self) -> None:
        """Nothing is held open."""

    def _ground(self, answer: Answer) -> Grounding:
        sources = sources_of(answer, whole=self._whole)
        places = claims(answer.response)
        if not sources or not places:
            return Grounding.undetermined("no_context" if not sources else "no_claims")
        if len(sources) > MAX_SENTENCES:
            return Grounding.undetermined("context_too_long")
        scores = self._judge([answer.response[start:end] for start, end in places], sources)
        judged = tuple(
            ClaimGrounding(start, end, score)
            for (start, end), score in zip(places, scores, strict=True)
        )
        return Grounding(score=aggregate(self._granularity.claims, scores), claims=judged)


def sources_of(answer: Answer, *, whole: bool) -> list[str]:
    """The context's passages where ``whole``, else all their sentences."""
    if whole:
        return [text for text in answer.context if text.strip()]
    return [text[start:end] for text in answer.context for start, end in claims(text)]


def best_match(embedder: Embedder, sentences: Sequence[str], sources: Sequence[str]) -> list[float]:
    """For each sentence the cosine of its most similar source sentence."""
    return [float(row.max()) for row in similarities(embedder, sentences, sources)]


def bert_score(mine: Floats, theirs: Floats) -> float:
    """BERTScore's F1 in [0, 1] of two texts by the vectors of their tokens, without weights of
    rarity and without a baseline subtracted; 0 where one has no token."""
    if not len(mine) or not len(theirs):
        return 0.0
    likeness = np.clip(mine @ theirs.T, 0.0, 1.0)
    precision, recall = likeness.max(axis=1).mean(), likeness.max(axis=0).mean()
    total = precision + recall
    return round(float(2 * precision * recall / total), DECIMALS) if total else 0.0


def load_bert_score(settings: DetectorSettings) -> SimilarityDetector:
    """BERTScore (Zhang et al. 2020) over the encoder of ``settings.model``, by default the
    reader's: a sentence is worth its best F1 with a sentence of the context.

    Raises:
        ModelError: there is no such model.
    """
    encoder = _encoder(settings)

    def judge(sentences: Sequence[str], sources: Sequence[str]) -> list[float]:
        of = encoder.tokens([*sentences, *sources])
        mine, theirs = of[: len(sentences)], of[len(sentences) :]
        return [max(bert_score(one, other) for other in theirs) for one in mine]

    revision = stable_id("bert_score", encoder.revision)[:16]
    return SimilarityDetector("bert_score", revision, judge, ANY_WINDOW_EVERY_CLAIM, whole=False)


def _encoder(settings: DetectorSettings) -> SentenceEncoder:
    """The encoder in the folder or under the hub id ``settings.model``, by default the reader's."""
    named = settings.model or "default"
    return reader_embedder(settings) if named == "default" else encoder_embedder(named, settings)


def load_cos_sim(settings: DetectorSettings) -> SimilarityDetector:
    """COS_SIM over the embedding model of ``settings.model``, by default the reader's encoder.

    The paper's is nlpaueb/legal-bert-base-uncased. It does not say how sentences become an
    answer's score; here the least similar sentence decides, as in its other methods.

    Raises:
        ModelError: there is no such model.
    """
    embedder = _encoder(settings)

    revision = stable_id("cos_sim", embedder.revision)[:16]
    judge = partial(best_match, embedder)
    return SimilarityDetector("cos_sim", revision, judge, ANY_WINDOW_EVERY_CLAIM, whole=False)


def load_quip(settings: DetectorSettings) -> SimilarityDetector:
    """QuIP with n-grams of 21 characters, or as many as ``settings.model`` says ("quip=13"). The
    answer is worth the mean of its sentences: hardly any is a quote from end to end.

    Raises:
        ModelError: that is no number of characters.
    """
    given = settings.model or str(N)
    if not given.isdecimal() or int(given) < 1:
        raise ModelError(f"quip takes a number of characters as its model, not {given!r}")
    n = int(given)
    judge = partial(quoted, n=n)
    return SimilarityDetector("quip", f"quip-{n}", judge, MEAN_OVER_CLAIMS, whole=True)
