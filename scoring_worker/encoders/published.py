"""How others publish their weights: labels, order of the two texts, tokenizer, commit.

A config often names its labels LABEL_0 and LABEL_1, and none says which text comes first. Both are
facts of a model's card or of its authors' code, and stand here once for everything that loads it.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PublishedHead:
    """How one sequence classifier is read.

    ``label`` is the logit that says yes (of a single logit, 0), ``contradiction`` the one that says
    the opposite; None where none does. ``sentence_first``: it was taught with the statement before
    its source. ``tokenizer`` is the hub id of the tokenizer where the weights bring none.
    """

    label: int
    contradiction: int | None = None
    sentence_first: bool = False
    tokenizer: str | None = None


RAGULATOR: Final = "ipoeyke/ragulator-deberta-v3-large"
FACT_KB: Final = "bunsenfeng/FactKB"
CONTEXT_NLI: Final = "potsawee/deberta-v3-large-mnli"
HEM: Final = "vectara/hallucination_evaluation_model"
BGE_RERANKER: Final = "BAAI/bge-reranker-base"

HEADS: Final[dict[str, PublishedHead]] = {
    # Two labels, 1 is out of context: 0 says yes. Sentence, then window (the authors' code).
    RAGULATOR: PublishedHead(0, 1, sentence_first=True),
    # 1 is factual. Summary, then article; its card takes roberta-base's tokenizer.
    FACT_KB: PublishedHead(1, sentence_first=True, tokenizer="FacebookAI/roberta-base"),
    # Taught without "neutral", and asked with the sentence first (SelfCheckGPT, section 5.4).
    CONTEXT_NLI: PublishedHead(0, 1, sentence_first=True),
    "cross-encoder/nli-deberta-v3-base": PublishedHead(1, 0),
    "FacebookAI/roberta-large-mnli": PublishedHead(2, 0),
    # A reranker has one logit: the query, here the statement, then the passage.
    BGE_RERANKER: PublishedHead(0, sentence_first=True),
    # Version 1: one logit; source, then summary. Version 2 is no sequence classifier, and
    # `scorers.baselines` reads it.
    HEM: PublishedHead(0),
}
"""Sequence classifiers by hub id."""

COMMITS: Final[dict[str, str]] = {
    "cross-encoder/nli-deberta-v3-base": "6c749ce3425cd33b46d187e45b92bbf96ee12ec7",
    "FacebookAI/roberta-large-mnli": "2a8f12d27941090092df78e4ba6f0928eb5eac98",
    "FacebookAI/roberta-base": "e2da8e2f811d1448a5b465c236feacd80ffbac7b",
    BGE_RERANKER: "2cfc18c9415c912f9d8155881c133215df768a70",
    "BAAI/bge-small-en-v1.5": "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
    "microsoft/deberta-v3-large": "64a8c8eab3e352a784c658aef62be1662607476f",
    HEM: "6f7b3407e687ab9564eecec1382ba9a465826139",
}
"""The commit that a hub id stands for. Of RAGulator's, FactKB's and ContextNLI's weights none could
be looked up from here: who uses them names one behind an "@"."""
HEM_V1: Final = f"{HEM}@0be3b8b63b460542683d7bb4fea4a58cca4b6691"
"""The last revision before version 2; it holds a pickle."""


def head_of(named: str) -> PublishedHead | None:
    """The head of a hub id, with or without a revision behind an "@"; None of any other name."""
    return HEADS.get(named.partition("@")[0])


def pinned(named: str) -> str:
    """``named`` at the commit that stands here, unless it names a revision or none is known."""
    commit = COMMITS.get(named)
    return f"{named}@{commit}" if commit else named
