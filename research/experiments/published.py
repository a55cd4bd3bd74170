"""What the SafePassage paper reports (arXiv 2025, Table 1 and section 5.3).

Its rows are extractions from AsyLex that are not public: these figures are beside ours for
orientation, and neither beat nor are beaten by them.
"""

from typing import Literal

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.evaluation.results import EvaluationResult

CAUTION = "published on other data (AsyLex, 1,500 expert labels); not comparable row by row"


class PublishedResult(Contract):
    """One row of Table 1: finding hallucinations."""

    scorer: str
    precision: float
    recall: float
    f1: float


TABLE_1 = (
    PublishedResult(scorer="HHEM 2.1", precision=0.800, recall=0.235, f1=0.364),
    PublishedResult(scorer="DeBERTaV3 NLI", precision=0.319, recall=0.210, f1=0.253),
    PublishedResult(scorer="NLI synth", precision=0.937, recall=0.705, f1=0.804),
    PublishedResult(scorer="NLI human", precision=0.950, recall=0.724, f1=0.822),
    PublishedResult(scorer="NLI synth > human", precision=0.928, recall=0.857, f1=0.891),
    PublishedResult(scorer="LLM", precision=0.878, recall=0.782, f1=0.827),
)

LLM_F1 = 0.827
"""The line that Figure 4 compares the encoders with."""


class Table1(Contract):
    """What ``experiments table1 --json`` writes: our scorers, and the paper's.

    ``unavailable`` says of each scorer that could not be loaded why not.
    """

    version: Literal[1] = 1
    experiment: Literal["table1"] = "table1"
    results: tuple[EvaluationResult, ...]
    published: tuple[PublishedResult, ...] = TABLE_1
    published_on: str = CAUTION
    unavailable: dict[str, str]
