"""RAGulator's Tables 2 and 3: AUROC, AUPRC and F1 in per cent, on an H100 cluster and a V100.

Their overall set is PubMed, MRPC, SNLI and 570 private responses; PubMedQA stands in for PubMed
here, so the rows are beside ours and not the same rows.
"""

from __future__ import annotations

from typing import Final

from safepassage.schemas.base import Contract


class Published(Contract):
    """What the paper prints of one detector: figures by source, and sentences a second."""

    detector: str
    overall: tuple[float, float, float]
    pubmed: tuple[float, float, float]
    mrpc: tuple[float, float, float]
    snli: tuple[float, float, float]
    sentences_per_second: float


def _row(name: str, speed: float, *figures: float) -> Published:
    triples = [figures[at : at + 3] for at in range(0, 12, 3)]
    overall, pubmed, mrpc, snli = [(a, b, c) for a, b, c in triples]
    return Published(
        detector=name, overall=overall, pubmed=pubmed, mrpc=mrpc, snli=snli,
        sentences_per_second=speed,
    )  # fmt: skip


PUBLISHED: Final = (
    _row("Zero-shot prompt (Llama-3.1-70B)", 3.03,
         89.3, 91.0, 88.7, 94.4, 95.0, 94.7, 65.9, 62.1, 54.3, 93.3, 94.8, 93.4),
    _row("RAGAS Faithfulness", 0.08,
         93.7, 92.9, 90.6, 94.6, 97.1, 93.9, 67.0, 82.4, 75.1, 96.9, 97.8, 95.7),
    _row("AlignScore-large", 9.99,
         92.3, 91.7, 84.0, 86.2, 80.0, 82.0, 70.2, 50.5, 57.1, 99.8, 99.8, 98.5),
    _row("MiniCheck-deberta-v3-large", 9.45,
         91.4, 87.4, 84.1, 96.3, 95.3, 90.9, 72.8, 55.2, 59.0, 97.9, 98.2, 93.5),
    _row("Bespoke-MiniCheck-7B", 9.82,
         95.8, 95.4, 89.0, 99.1, 98.7, 96.4, 74.3, 62.8, 60.0, 99.2, 99.3, 96.0),
    _row("RAGulator-Random-Forest", 2.01,
         94.5, 94.6, 86.7, 99.4, 99.2, 97.6, 76.0, 65.3, 59.7, 94.5, 94.8, 87.3),
    _row("RAGulator-LightGBM", 2.03,
         95.5, 95.4, 87.4, 99.4, 99.0, 97.4, 76.5, 65.2, 60.2, 94.8, 95.4, 87.3),
    _row("RAGulator-deberta-v3-large", 19.08,
         98.2, 98.3, 93.5, 99.5, 99.5, 97.4, 93.7, 88.2, 81.0, 99.5, 99.6, 98.0),
    _row("RAGulator-xlm-roberta-large", 26.09,
         97.1, 97.2, 91.1, 99.0, 98.7, 95.4, 88.9, 80.5, 74.9, 99.4, 99.5, 96.4),
)  # fmt: skip
