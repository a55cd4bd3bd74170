"""One call: does the document support what an LLM says of it?

::

    from safepassage import Extraction, Verifier

    verifier = Verifier("default")
    result = verifier.verify(text, [Extraction("Rent", "£1,250", quote="a monthly rent of £1,250")])
    result.accepted, result.stopped, result.undetermined

The verdicts are those of the stream and of ``safepassage check``, byte for byte: the same aligner,
scorer and decision rule. Nothing heavy is imported before a `Verifier` is made.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .extraction import Extraction
    from .extractor import extract
    from .files import UnreadableFile, read, read_all
    from .outputs import extractions_of
    from .result import Result, Unsupported
    from .schemas import Document, Entity, Verdict
    from .verifier import Verifier

__all__ = [
    "Document",
    "Entity",
    "Extraction",
    "Result",
    "UnreadableFile",
    "Unsupported",
    "Verdict",
    "Verifier",
    "extract",
    "extractions_of",
    "read",
    "read_all",
]

_HOMES = {
    "Document": "schemas",
    "Entity": "schemas",
    "Extraction": "extraction",
    "Result": "result",
    "UnreadableFile": "files",
    "Unsupported": "result",
    "Verdict": "schemas",
    "Verifier": "verifier",
    "extract": "extractor",
    "extractions_of": "outputs",
    "read": "files",
    "read_all": "files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - what nobody asks for costs nothing

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
