"""What a file is: by its first bytes, and by its name only where they leave it open."""

import re
from enum import Enum
from pathlib import Path, PurePath


class Kind(Enum):
    """The kinds of file that are read, and their media types."""

    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    HTML = "text/html"
    MAIL = "message/rfc822"
    IMAGE = "image/*"
    TEXTRACT = "application/vnd.amazon.textract+json"
    AZURE = "application/vnd.azure.layout+json"
    HOCR = "text/vnd.hocr+html"
    ALTO = "application/alto+xml"
    TEXT = "text/plain"
    UNKNOWN = "application/octet-stream"

    @property
    def is_ocr_output(self) -> bool:
        """Whether it says what another program read on the pages of another file."""
        return self in (Kind.TEXTRACT, Kind.AZURE, Kind.HOCR, Kind.ALTO)


_HEAD = 4_096
_PDF_REACH = 1_024
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"
_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
    b"GIF8": "image/gif",
    b"BM": "image/bmp",
    b"RIFF": "image/webp",
}
_MAIL_NAMES = (".eml",)
_PAGE_NAMES = (".html", ".htm", ".xhtml")
_HOCR = re.compile(rb"class\s*=\s*[\"'][^\"']*\bocr_page\b")
_ALTO = re.compile(rb"<(?:\w+:)?alto[\s>]", re.IGNORECASE)
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", re.I | re.S
)


def kind_of(name: str, raw: bytes) -> Kind:
    """The kind of a file called ``name`` that holds ``raw``."""
    head = raw[:_HEAD]
    suffix = PurePath(name.lower()).suffix
    if kind := _by_magic(head, raw):
        return kind
    if suffix in _MAIL_NAMES:
        return Kind.MAIL
    if suffix == ".json":
        return _json_kind(raw)
    if kind := _by_markup(head, suffix):
        return kind
    return Kind.UNKNOWN if b"\0" in head else Kind.TEXT


def beginning(path: Path, most: int) -> bytes:
    """What `kind_of` and `media_type` have to see of a file: its first few thousand bytes; up to
    ``most`` bytes where these leave the kind open (archives, JSON). Raises `OSError` where the file
    cannot be read."""
    with path.open("rb") as opened:
        head = opened.read(_HEAD)
        if head.startswith(_ZIP) or path.suffix.lower() == ".json":
            head += opened.read(max(0, most - _HEAD))
        return head


def _by_magic(head: bytes, raw: bytes) -> Kind | None:
    if b"%PDF-" in head[:_PDF_REACH]:
        return Kind.PDF
    if head.startswith(_ZIP):
        return Kind.DOCX if b"word/" in raw else Kind.UNKNOWN
    if head.startswith(_OLE):
        return Kind.DOCX  # encrypted, or of the old format: its reader says so
    return Kind.IMAGE if _image_type(head) else None


def _by_markup(head: bytes, suffix: str) -> Kind | None:
    if _HOCR.search(head):
        return Kind.HOCR
    if _ALTO.search(head):
        return Kind.ALTO
    is_page = suffix in _PAGE_NAMES or _HTML.match(head.removeprefix(b"\xef\xbb\xbf"))
    return Kind.HTML if is_page else None


def media_type(kind: Kind, raw: bytes) -> str:
    """The media type of a file, as exact as its first bytes say."""
    return (_image_type(raw[:_HEAD]) or Kind.UNKNOWN.value) if kind is Kind.IMAGE else kind.value


def _image_type(head: bytes) -> str | None:
    for magic, name in _IMAGES.items():
        if head.startswith(magic):
            is_one = name != "image/webp" or head[8:12] == b"WEBP"
            is_one &= name != "image/bmp" or head[6:10] == b"\0\0\0\0"
            return name if is_one else None
    return None


def _json_kind(raw: bytes) -> Kind:
    """By the names alone: it is unpacked where that may cost what it likes, see `child`."""
    if b'"Blocks"' in raw and b'"BlockType"' in raw:
        return Kind.TEXTRACT
    return Kind.AZURE if b'"pages"' in raw and b'"words"' in raw else Kind.TEXT
