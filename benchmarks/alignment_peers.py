"""The aligners that are compared, each as ``document, contexts -> anything``."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Sequence

from rapidfuzz.fuzz import partial_ratio_alignment

from safepassage.agents.alignment import DocumentIndex
from safepassage.agents.alignment.normalisation import code_points, normalise, normalised_context
from safepassage.agents.alignment.reference import biopython_first

Aligner = Callable[[str, Sequence[str]], object]

OURS = "safepassage"
PROOF = "safepassage, proof suffices"
FULL = "full Biopython"


def ours(text: str, contexts: Sequence[str]) -> object:
    """Exact score, counts and spans for every context."""
    index = DocumentIndex(text)
    return [index.align(context) for context in contexts]


def ours_by_proof(text: str, contexts: Sequence[str]) -> object:
    """The same for contexts that are found; for the others only the proof that D < tau."""
    index = DocumentIndex(text)
    return [index.align(context, exact=False) for context in contexts]


def full_biopython(text: str, contexts: Sequence[str]) -> object:
    """Smith-Waterman over the whole document and its first alignment, on normalised texts."""
    document = normalise(text).codes
    return [biopython_first(document, code_points(normalised_context(c))) for c in contexts]


def rapidfuzz(text: str, contexts: Sequence[str]) -> object:
    """The best window of at most the context's length; its score is not D."""
    document = normalise(text).text
    return [partial_ratio_alignment(normalised_context(c), document) for c in contexts]


def langextract(text: str, contexts: Sequence[str]) -> object:
    """langextract's aligner with its default settings, all contexts in one call."""
    from langextract.core.data import Extraction  # noqa: PLC0415 - an optional peer
    from langextract.resolver import WordAligner  # noqa: PLC0415

    group = [Extraction("context", context) for context in contexts]
    return list(WordAligner().align_extractions([group], text))


def peers() -> dict[str, Aligner]:
    """All aligners that are installed, by the name they are printed with."""
    found: dict[str, Aligner] = {
        OURS: ours,
        PROOF: ours_by_proof,
        FULL: full_biopython,
        "rapidfuzz partial_ratio": rapidfuzz,
    }
    if importlib.util.find_spec("langextract"):
        warnings.filterwarnings("ignore", module="langextract")
        found["langextract"] = langextract
    return found
