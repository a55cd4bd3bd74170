"""The text around a passage, for a page that must not wait long for it."""

import asyncio
from dataclasses import dataclass

from aiokafka.errors import KafkaError

from safepassage.agents.document_store import DocumentStore, DocumentStoreError
from safepassage.schemas import Span, Verdict

PATIENCE_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's text, or ``problem``: why it is missing, in a sentence for the reviewer.

    ``spans`` are the passages that really are there.
    """

    text: str = ""
    spans: tuple[Span, ...] = ()
    problem: str = ""


async def document_text(store: DocumentStore, verdict: Verdict) -> DocumentText:
    """The text of a verdict's document; one that comes late is there at the next try."""
    ref = verdict.document
    if ref is None:
        return DocumentText(problem="The verdict names no document.")
    try:
        text = await asyncio.wait_for(store.get(ref), PATIENCE_SECONDS)
    except TimeoutError:
        return DocumentText(problem="The text did not come in time. Reload to try again.")
    except (DocumentStoreError, LookupError, ValueError, KafkaError, OSError) as error:
        place, why = ref.coordinates or "no known record", type(error).__name__
        return DocumentText(problem=f"The document's text is not available ({place}: {why}).")
    alignment = verdict.alignment
    passages = alignment.passages or alignment.spans if alignment else ()
    standing = tuple(s for s in passages if text[s.start : s.end] == s.text)
    problem = "" if len(standing) == len(passages) else "The passage is not in the text."
    return DocumentText(text, standing, problem)
