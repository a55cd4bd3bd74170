"""Files in: PDF, scans, Word, web pages, e-mail and the outputs of OCR services become documents
with a layout.

What a person cannot see on the page is left out of the text, and said. Files are hostile: they
are read in a process that is bounded and may die, see `Intake`.
"""

from .file_documents import Imported, ImportedPart, RefusedPart
from .file_kinds import Kind, beginning, kind_of, media_type
from .intake import Intake
from .limits import Limits, MissingExtra, OcrUse, Refused, ocr_is_installed

__all__ = [
    "Imported",
    "ImportedPart",
    "Intake",
    "Kind",
    "Limits",
    "MissingExtra",
    "OcrUse",
    "Refused",
    "RefusedPart",
    "beginning",
    "kind_of",
    "media_type",
    "ocr_is_installed",
]
