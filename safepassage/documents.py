"""What users give as a document, as a `Document`."""

import re
from pathlib import Path

from safepassage.schemas import Document, text_digest

_FILE_NAME = re.compile(r"[^\s\x00]+\.\w{1,5}")
_LONGEST_NAME = 255


def document_of(document: str | Document | Path) -> Document:
    """``document`` itself, the one in a file, or one of a text, which its digest names. Raises
    `TypeError` where it is no text; `ValueError` where it is the name of a file, or no Unicode;
    `UnreadableFile` where the file gave no document."""
    if isinstance(document, Document):
        return document
    if isinstance(document, Path):
        from .files import read  # noqa: PLC0415 - its libraries are of an extra

        return read(document)
    if not isinstance(document, str):
        kind = type(document).__name__
        mend = "decode it first" if isinstance(document, bytes | bytearray) else "give its text"
        raise TypeError(f"the document is {kind}: {mend}, or give read(path) or a Path")
    if _names_a_file(document):
        raise ValueError("the text is the name of a file: give Path(…), or read(…) of it")
    return Document(id=_digest(document), text=document)


def _digest(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text has a lone surrogate at {error.start}, so it is no Unicode: decode the file "
            "with errors='replace'"
        ) from None
    return text_digest(text)


def _names_a_file(text: str) -> bool:
    if len(text) > _LONGEST_NAME or not _FILE_NAME.fullmatch(text):
        return False
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False
