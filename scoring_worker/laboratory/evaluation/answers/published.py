"""RAGulator's Tables 2 and 3: AUROC, AUPRC and F1 in per cent, on an H100 cluster and a V100.

Their overall set is PubMed, MRPC, SNLI and 570 private responses; PubMedQA stands in for PubMed
here, so the rows are beside ours and not the same rows.
"""

from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from safepassage.schemas.base import Contract

Figures = tuple[float, float, float]


class Published(Contract):
    """What the paper prints of one detector: figures by source, and sentences a second."""

    detector: str
    overall: Figures
    pubmed: Figures
    mrpc: Figures
    snli: Figures
    sentences_per_second: float


PUBLISHED: Final = TypeAdapter(tuple[Published, ...]).validate_json(
    Path(__file__).with_suffix(".json").read_bytes()
)
