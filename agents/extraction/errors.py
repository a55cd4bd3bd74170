"""What goes wrong before the LLM is asked; the rest is drawn in `safepassage.llm_calls.errors`."""

from __future__ import annotations

from safepassage.llm_calls.errors import LLMError


class DocumentTooLong(LLMError):
    """The document is longer than the extractor was set up to take."""

    code = "document_too_long"
