"""A verdict in words."""

from collections.abc import Iterator

from safepassage.schemas import Verdict, entity_type_name
from safepassage.schemas.wording import in_words


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
