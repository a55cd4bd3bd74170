"""From a file's bytes to documents, for every kind of file."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .composition import compose
from .docx import read_docx
from .file_documents import Imported, ImportedPart, Omitted, RefusedPart, omissions
from .file_kinds import Kind, kind_of, media_type
from .html import read_html
from .images import read_image
from .limits import Limits, Refused
from .mail import Attachment, read_mail
from .ocr import Reader
from .ocr_markup import read_alto, read_hocr
from .ocr_services import read_azure, read_textract
from .page_words import Page
from .pdf import read_pdf

_PAGES: dict[Kind, Callable[[bytes, Limits], Iterator[Page]]] = {
    Kind.PDF: lambda raw, limits: read_pdf(raw, limits, Reader(limits)),
    Kind.IMAGE: lambda raw, limits: read_image(raw, limits, Reader(limits)),
    Kind.TEXTRACT: read_textract,
    Kind.AZURE: read_azure,
    Kind.HOCR: read_hocr,
    Kind.ALTO: read_alto,
}
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f]")


def read_file(name: str, raw: bytes, limits: Limits) -> Imported:
    """The documents of a file called ``name``. What cannot be read is refused, part by part;
    nothing is raised for what a file holds."""
    read = _OpenedFile(limits)
    read.add(_File("", (), name, raw))
    return read.imported


@dataclass(frozen=True, slots=True)
class _File:
    """A file, or an attachment. ``label`` and ``place`` see `ImportedPart`; ``name`` is its own."""

    label: str
    place: tuple[int, ...]
    name: str
    raw: bytes


class _OpenedFile:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._parts: list[ImportedPart] = []
        self._refused: list[RefusedPart] = []

    @property
    def imported(self) -> Imported:
        return Imported(parts=tuple(self._parts), refused=tuple(self._refused))

    def add(self, file: _File) -> None:
        """The documents of ``file`` and of its attachments."""
        attachments: tuple[Attachment, ...] = ()
        try:
            part, attachments = self._read(file)
            self._parts.append(part)
        except Refused as refusal:
            self._refuse(file.label, str(refusal))
        except RecursionError:
            self._refuse(file.label, "is nested without end")
        for found in attachments:
            label = f"{file.label}/{found.name}" if file.label else found.name
            self.add(_File(label, (*file.place, found.number), found.name, found.content))

    def _read(self, file: _File) -> tuple[ImportedPart, tuple[Attachment, ...]]:
        if len(self._parts) + len(self._refused) >= self._limits.parts:
            raise Refused(f"has more than {self._limits.parts} parts")
        kind = kind_of(file.name, file.raw)
        if kind is Kind.MAIL:
            if len(file.place) >= self._limits.depth:
                raise Refused(f"is nested more than {self._limits.depth} deep")
            mail = read_mail(file.raw, self._limits)
            return self._text(file, kind, mail.text, mail.omitted), mail.attachments
        if kind in _PAGES:
            return self._pages(file, kind), ()
        if kind not in _TEXTS:
            raise Refused("is of a kind that is not read")
        return self._text(file, kind, *_TEXTS[kind](file.raw, self._limits)), ()

    def _pages(self, file: _File, kind: Kind) -> ImportedPart:
        composition = compose(_PAGES[kind](file.raw, self._limits), self._limits)
        if not composition.text:
            raise Refused("holds no text that a person could read")
        return ImportedPart(
            name=_clean(file.label),
            part=file.place,
            media_type=media_type(kind, file.raw),
            text=composition.text,
            layout=composition.layout,
            omissions=composition.omissions,
        )

    def _text(self, file: _File, kind: Kind, text: str, omitted: Omitted) -> ImportedPart:
        text = _clean(text)
        if len(text) > self._limits.characters:
            limit = self._limits.characters
            raise Refused(f"has {len(text)} characters; at most {limit} are read")
        if not text.strip():
            raise Refused("holds no text that a person could read")
        return ImportedPart(
            name=_clean(file.label),
            part=file.place,
            media_type=kind.value,
            text=text,
            omissions=omissions(omitted, None),
        )

    def _refuse(self, label: str, reason: str) -> None:
        self._refused.append(RefusedPart(name=_clean(label), reason=reason))


def _read_text(raw: bytes, _limits: Limits) -> tuple[str, Omitted]:
    try:
        return raw.decode("utf-8-sig"), Omitted()
    except UnicodeDecodeError as error:
        raise Refused(f"is not UTF-8 text (byte {error.start})") from error


_TEXTS: dict[Kind, Callable[[bytes, Limits], tuple[str, Omitted]]] = {
    Kind.DOCX: read_docx,
    Kind.HTML: read_html,
    Kind.TEXT: _read_text,
}


def _clean(text: str) -> str:
    """Without what no event can carry, or no program shows."""
    return _CONTROLS.sub(" ", _LONE_SURROGATES.sub("\ufffd", text))
