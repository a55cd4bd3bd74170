"""How others publish their weights: labels, order and form of the two texts, tokenizer, commit.

A config often names its labels LABEL_0 and LABEL_1, and none says which text comes first. Both are
facts of a model's card or of its authors' code, and are noted here once for everything that loads
it. A row is found by its hub id; "ROW=FOLDER" reads a local folder by it. The source of each row is
beside it. Rows without a source are for weights of one's own.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

Head = Literal["sequence", "tokens", "seq2seq", "alignscore", "hhem"]


@dataclass(frozen=True, slots=True)
class PublishedHead:
    """How one model is read.

    ``label`` is the logit that says yes (of a single logit, 0), ``contradiction`` the one that says
    the opposite; None if it is missing. ``sentence_first``: it was taught with the statement
    before its source. ``tokenizer`` is the hub id of the tokenizer where the weights bring none.

    ``prompt`` writes both texts into one, source {text1} before statement {text2}; with
    ``second``, {text2} is the second text of a pair instead. ``tokens`` is the longest input, and
    ``window`` the most tokens of a source that are read at once, as the authors cut it; 0 for what
    the weights say. ``head`` "tokens" says yes by the label of every token of the statement,
    "seq2seq" by the first token of an answer: ``answers`` are the ids that say no and yes.
    "alignscore" is a classifier of sequences whose weights have names of their own, "hhem" one of
    tokens that is read at the first, over the config and the tokenizer of its foundation.
    """

    label: int
    contradiction: int | None = None
    sentence_first: bool = False
    tokenizer: str | None = None
    head: Head = "sequence"
    prompt: str = ""
    second: bool = False
    tokens: int = 0
    window: int = 0
    answers: tuple[int, int] = (0, 0)


RAGULATOR: Final = "ipoeyke/ragulator-deberta-v3-large"
FACT_KB: Final = "bunsenfeng/FactKB"
CONTEXT_NLI: Final = "potsawee/deberta-v3-large-mnli"
NLI: Final = "cross-encoder/nli-deberta-v3-base"
HEM: Final = "vectara/hallucination_evaluation_model"
HEM_V1: Final = f"{HEM}@0be3b8b63b460542683d7bb4fea4a58cca4b6691"
"""The last revision before version 2; it holds a pickle."""
HEM_FOUNDATION: Final = "google/flan-t5-base"
"""Config and tokenizer of version 2."""
BGE_RERANKER: Final = "BAAI/bge-reranker-base"

ROWS: Final[dict[str, PublishedHead]] = {
    "label-0": PublishedHead(0, 1),
    "label-1": PublishedHead(1, 0),
    "label-0-statement-first": PublishedHead(0, 1, sentence_first=True),
    "label-1-statement-first": PublishedHead(1, 0, sentence_first=True),
    "one-logit": PublishedHead(0),
    "tokens-0": PublishedHead(0, head="tokens"),
    # The query, here the statement, then the passage: FlagEmbedding's README, mixedbread's and
    # sentence-transformers' cards (`predict([(query, passage)])`).
    "reranker": PublishedHead(0, sentence_first=True),
    # github.com/derenlei/FactCG, factcg/utils.py and inference.py: one text, 550 words at once.
    "factcg": PublishedHead(
        1,
        prompt='{text1}\n\nChoose your answer: based on the paragraph above can we conclude that "'
        '{text2}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is ',
        tokens=2_048,
        window=750,
    ),
    # github.com/Liyan06/MiniCheck, minicheck/inference.py: one text, its parts joined by the token
    # that ends a text; 400 tokens at once, for T5 500 words.
    "minicheck-roberta": PublishedHead(1, prompt="{text1}</s>{text2}", tokens=512, window=400),
    "minicheck-deberta": PublishedHead(1, prompt="{text1}[SEP]{text2}", tokens=2_048, window=400),
    "minicheck-flan-t5": PublishedHead(
        1,
        head="seq2seq",
        prompt="predict: {text1}</s>{text2}",
        tokens=2_048,
        window=650,
        answers=(3, 209),
    ),
    # github.com/KRLabsOrg/LettuceDetect, lettucedetect/prompts and detectors/transformer.py: a
    # passage without a question, then the answer; label 1 of a token is hallucinated.
    "lettucedetect": PublishedHead(
        0,
        head="tokens",
        prompt="Summarize the following text:\npassage 1: {text1}\noutput:{text2}",
        second=True,
        tokens=4_096,
    ),
    # Its card: source, then answer; 0 is grounded; up to 512 tokens.
    "groundcheck": PublishedHead(0, 1, tokens=512),
    # github.com/yuh-zha/AlignScore, alignscore/inference.py ("nli_sp"): context, then claim; the
    # first of three labels is aligned. 512 tokens, which is what about 350 words of a context and
    # the claim take.
    "alignscore": PublishedHead(0, head="alignscore", tokens=512),
    # Its config.json names prompt and foundation. T5 knows relative positions only and has no
    # limit of its own; memory does.
    "hhem": PublishedHead(
        1,
        head="hhem",
        prompt="<pad> Determine if the hypothesis is true given the premise?\n\n"
        "Premise: {text1}\n\nHypothesis: {text2}",
        tokens=4_096,
    ),
}
"""How published weights are read, by name. LLMs that verify are asked by `scorers.llm_forms`."""

HEADS: Final[dict[str, PublishedHead]] = {
    # Two labels, 1 is out of context: 0 says yes. Sentence, then window (the authors' code).
    RAGULATOR: ROWS["label-0-statement-first"],
    # 1 is factual. Summary, then article; its card takes roberta-base's tokenizer.
    FACT_KB: PublishedHead(1, sentence_first=True, tokenizer="FacebookAI/roberta-base"),
    # Taught without "neutral", and asked with the sentence first (SelfCheckGPT, section 5.4).
    CONTEXT_NLI: ROWS["label-0-statement-first"],
    NLI: ROWS["label-1"],
    "FacebookAI/roberta-large-mnli": PublishedHead(2, 0),
    BGE_RERANKER: ROWS["reranker"],
    "BAAI/bge-reranker-large": ROWS["reranker"],
    "BAAI/bge-reranker-v2-m3": ROWS["reranker"],
    "mixedbread-ai/mxbai-rerank-base-v1": ROWS["reranker"],
    "mixedbread-ai/mxbai-rerank-large-v1": ROWS["reranker"],
    "cross-encoder/ms-marco-MiniLM-L6-v2": ROWS["reranker"],
    # Version 1: source, then summary. Version 2 says in its config that it is a "hhem".
    HEM: ROWS["one-logit"],
    "yaxili96/FactCG-DeBERTa-v3-Large": ROWS["factcg"],
    "lytang/MiniCheck-RoBERTa-Large": ROWS["minicheck-roberta"],
    "lytang/MiniCheck-DeBERTa-v3-Large": ROWS["minicheck-deberta"],
    "lytang/MiniCheck-Flan-T5-Large": ROWS["minicheck-flan-t5"],
    "KRLabsOrg/lettucedect-base-modernbert-en-v1": ROWS["lettucedetect"],
    "KRLabsOrg/lettucedect-large-modernbert-en-v1": ROWS["lettucedetect"],
    "Pranshurs/groundcheck-modernbert": ROWS["groundcheck"],
}
"""The same by hub id."""

SAY_YES: Final = frozenset(
    {"entailment", "entail", "entailed", "supported", "supports", "grounded", "consistent"}
    | {"factual", "faithful"}
)
"""What configs call the logit that says yes, without case. "not_entailment" is not one of them."""

COMMITS: Final[dict[str, str]] = {
    NLI: "6c749ce3425cd33b46d187e45b92bbf96ee12ec7",
    "FacebookAI/roberta-large-mnli": "2a8f12d27941090092df78e4ba6f0928eb5eac98",
    "FacebookAI/roberta-base": "e2da8e2f811d1448a5b465c236feacd80ffbac7b",
    BGE_RERANKER: "2cfc18c9415c912f9d8155881c133215df768a70",
    "BAAI/bge-small-en-v1.5": "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
    "microsoft/deberta-v3-large": "64a8c8eab3e352a784c658aef62be1662607476f",
    HEM: "6f7b3407e687ab9564eecec1382ba9a465826139",
}
"""The commit that a hub id represents. Of RAGulator's, FactKB's and ContextNLI's weights none could
be looked up from here: who uses them names one behind an "@"."""


def head_of(named: str) -> PublishedHead | None:
    """The head of a hub id, with or without a revision behind an "@"; None of any other name."""
    return HEADS.get(named.partition("@")[0])


def row_of(head: PublishedHead) -> str | None:
    """The name of the row that is ``head``, where more than its label and its order counts."""
    if not head.prompt and head.head == "sequence":
        return None
    return next(name for name, row in ROWS.items() if row == head)


def pinned(named: str) -> str:
    """``named`` at the commit that is here, unless it names a revision or none is known."""
    commit = COMMITS.get(named)
    return f"{named}@{commit}" if commit else named


def label_named_yes(config: Any) -> int | None:
    """The position of the one label of ``config`` that says yes; None where none or several do."""
    named = getattr(config, "id2label", None) or {}
    found = [int(at) for at, name in named.items() if str(name).casefold() in SAY_YES]
    return found[0] if len(found) == 1 else None
