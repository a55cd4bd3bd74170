"""What GC learns from: a context sentence, a sentence of an answer, and a weighted label.

A grounded sentence is paired with the most similar sentence of the context, and its label is their
cosine. Its altered counterpart is paired with the same context sentence and gets 1 minus that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from research.adaptation.rule_twins import one_alteration
from research.adaptation.twins import Twins, differing
from research.corpora import PERMISSIVE_NLI
from research.detectors.similarity.embedding import Embedder, similarities

TWINS_OF_NLI = frozenset({"SNLI", "MultiNLI"})
"""Sources whose premises have an entailed and a contradicted statement."""


@dataclass(frozen=True, slots=True)
class GroundingExample:
    """``label`` in [0, 1]: how grounded ``sentence`` is in ``source``. ``group`` is its query's."""

    source: str
    sentence: str
    label: float
    group: str


@dataclass(frozen=True, slots=True)
class SentenceTwins:
    """A grounded sentence, its altered counterpart, and the context's sentences."""

    group: str
    sources: tuple[str, ...]
    grounded: str
    altered: str


def of_twins(twins: Iterable[Twins]) -> Iterator[SentenceTwins]:
    """The sentences that differ between an answer and its twin."""
    from safepassage.passages.sentence_splitting import sentences  # noqa: PLC0415

    for one in twins:
        sources = tuple(text[start:end] for text in one.context for start, end in sentences(text))
        if not sources:
            continue
        for grounded, altered in differing(one.grounded, one.altered):
            yield SentenceTwins(one.query or one.id, sources, grounded, altered)


def of_nli(rows: Iterable[Mapping[str, Any]]) -> Iterator[SentenceTwins]:
    """Twins from NLI rows: a premise with a statement that it entails and one that it contradicts.

    Where a premise has no contradicted statement, a rule alters the entailed one.
    """
    known: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.get("source") in TWINS_OF_NLI & PERMISSIVE_NLI and not row.get("binary"):
            known.setdefault(str(row["premise"]), {})[str(row["label"])] = str(row["hypothesis"])
    for premise, said in known.items():
        grounded = said.get("entailment")
        if grounded is None:
            continue
        contradicted = said.get("contradiction")
        ruled = None if contradicted else one_alteration(grounded)
        altered = contradicted or (ruled.text if ruled else None)
        if altered:
            yield SentenceTwins(premise, (premise,), grounded, altered)


def weighted(twins: Sequence[SentenceTwins], embedder: Embedder) -> list[GroundingExample]:
    """Two examples of every twin, as many grounded as altered."""
    made: list[GroundingExample] = []
    for one in twins:
        cosines = similarities(embedder, [one.grounded], one.sources)[0]
        best = int(cosines.argmax())
        cosine = float(cosines[best])
        source = one.sources[best]
        made.append(GroundingExample(source, one.grounded, cosine, one.group))
        made.append(GroundingExample(source, one.altered, round(1.0 - cosine, 6), one.group))
    return made
