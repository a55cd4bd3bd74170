"""A verdict in words, for a reader who never saw the source: a reviewer, an LLM."""

from collections.abc import Iterator, Mapping

from .hypothesis import CLAIM_TYPE, entity_type_name
from .reason import Reason
from .verdict import Verdict

REASONS: Mapping[Reason, str] = {
    "not_found": "The quote is not in the document.",
    "empty_context": "Nothing was quoted.",
    "low_evidence": "The quote is too short for so inexact a match.",
    "unsupported": "The scorer does not see the value supported by the passage.",
    "doubtful": "Nothing shows it wrong, but not every check was sure (strict mode).",
    "conflicting": "The document gave another value as well, for a field with room for one.",
    "review_rejected": "A reviewer refused it.",
    "review_lapsed": "A reviewer decided on it in an earlier version, whose passage changed since.",
    "document_missing": "The document could not be found.",
    "document_mismatch": "The document found is not the one it was extracted from.",
    "document_too_long": "The document is longer than the limit.",
    "context_too_long": "The quote is longer than the limit.",
    "alignment_failed": "The aligner failed.",
    "alignment_timeout": "The aligner took too long.",
    "scorer_failed": "The scorer failed.",
    "scorer_timeout": "The scorer took too long.",
    "score_not_finite": "The scorer gave no finite number.",
    "no_threshold": "There is no threshold to compare the score with.",
    "language_not_covered": "The scorer does not read the language of the passage or the type.",
    "date_ambiguous": "The passage's date can be read in two ways, and nothing decides which.",
    "invalid_extraction": "The extraction itself is not valid.",
    "review_confirmed": "A reviewer confirmed it.",
    "review_corrected": "A reviewer corrected it.",
}

_OF_CLAIMS: Mapping[str, str] = {
    "not_found": "No retrieved passage has words of the sentence.",
    "empty_context": "Nothing was retrieved.",
    "low_evidence": "Too few words of the sentence are in a retrieved passage.",
    "unsupported": "The scorer does not see the sentence supported by the retrieved passages.",
}


def in_words(reason: Reason, entity_type: str) -> str:
    """A sentence for ``reason``; of a claim, which quotes nothing, in words of its own."""
    of_claims = _OF_CLAIMS if entity_type == CLAIM_TYPE else {}
    return of_claims.get(reason, REASONS[reason])


def where(verdict: Verdict) -> str:
    """The entity type, behind the path of its field where the schema names one."""
    path = verdict.field.name if verdict.field and verdict.field.name else ""
    told = not path or entity_type_name(path).casefold() == verdict.entity_type.casefold()
    return verdict.entity_type if told else f"{path} ({verdict.entity_type})"


def cut(text: str, most: int) -> str:
    """``text`` in one line of at most ``most`` characters."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def reasons_in_words(verdict: Verdict) -> Iterator[str]:
    """Why it was not accepted, a sentence each; then what the checks saw."""
    for reason in verdict.reasons:
        yield in_words(reason, verdict.entity_type)
    for finding in verdict.findings:
        yield f"{finding.code.replace('_', ' ')}{': ' if finding.detail else ''}{finding.detail}"
