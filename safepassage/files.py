"""Files of any kind as documents, each with a reference to the file that it was read from."""

import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from safepassage.agents.intake.file_documents import Imported, ImportedPart
from safepassage.agents.intake.file_kinds import Kind, beginning, kind_of, media_type
from safepassage.agents.intake.intake import Intake
from safepassage.agents.intake.limits import Limits
from safepassage.schemas import Document, Original
from safepassage.schemas.base import MAX_ID_CHARACTERS
from safepassage.schemas.layout import MAX_URI_CHARACTERS

from .extras import missing_extra
from .settings import FileSettings

_PAGED = (".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp")
_OCR_OUTPUTS = (".json", ".hocr", ".xml", ".html", ".htm")


class UnreadableFile(ValueError):
    """A file that gave no document, or several; the message says why."""


def read(path: Path | str, settings: FileSettings | None = None) -> Document:
    """The document in a file: PDF, scan, Word, web page, e-mail, OCR output or text, with its
    layout where it has pages. Its id is the path as given. The limits are the environment's.

    Raises:
        UnreadableFile: it gave no document, or is an e-mail with attachments, see `read_all`.
        MissingExtra: the extra "files" has to be installed for it.
    """
    every = read_all(path, settings)
    if len(every) > 1:
        names = ", ".join(document.id for document in every[:5])
        raise UnreadableFile(f"{path} holds {len(every)} documents; read_all gives them: {names}")
    return every[0]


def read_all(path: Path | str, settings: FileSettings | None = None) -> list[Document]:
    """The documents in a file, at least one: itself, and its attachments that can be read.

    Raises:
        UnreadableFile: it gave none.
        MissingExtra: the extra "files" has to be installed for it.
    """
    path = Path(path)
    try:
        with FileReader(settings or FileSettings()) as reader:
            found = list(reader.read_all([path]))
    except ModuleNotFoundError as error:
        raise missing_extra(error, "files") or error from None
    documents = [one for one in found if isinstance(one, Document)]
    if not documents:
        raise UnreadableFile("; ".join(map(str, found)) or f"{path} holds no text")
    return documents


@dataclass(frozen=True, slots=True)
class Rejected:
    """An input that is no document. ``str()`` is one line that says where and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def limits(settings: FileSettings) -> Limits:
    """What one file may cost, as configured."""
    return Limits(
        file_bytes=settings.max_file_bytes,
        characters=settings.max_document_characters,
        pages=settings.max_file_pages,
        ocr_pages=settings.max_ocr_pages,
        seconds=settings.file_seconds,
        memory_bytes=settings.file_memory_bytes,
        ocr=settings.ocr,
    )


class FileReader(AbstractContextManager["FileReader"]):
    """Reads files one after another; a context manager."""

    def __init__(self, settings: FileSettings) -> None:
        self._settings = settings
        self._intake = Intake(limits(settings))
        self._root = settings.originals.resolve() if settings.originals else None

    def __exit__(self, *_error: object) -> None:
        self._intake.close()

    def ids_of(self, paths: Sequence[Path]) -> Iterator[tuple[str, str] | Rejected]:
        """Id and media type of each document of ``paths``. Of an e-mail that takes reading it, for
        its attachments; no other file is read."""
        about = self._outputs(paths)
        most = self._settings.max_file_bytes
        for path in paths:
            if path in about.values():
                continue
            shown = about.get(path, path)
            try:
                kind = kind_of(path.name, beginning(path, most))
                shown_type = _media_type(shown, most)
            except OSError as error:
                yield Rejected(str(path), f"cannot be read: {error.strerror}")
                continue
            if kind is Kind.UNKNOWN:
                yield _binary(path)
            elif kind is not Kind.MAIL:
                yield path_id(shown), shown_type
            else:
                for found in self._read(path, None):
                    if isinstance(found, Rejected):
                        yield found
                    else:
                        original = found.original
                        yield found.id, original.media_type if original else kind.value

    def read_all(
        self, paths: Sequence[Path], wanted: Callable[[Path], bool] = lambda _: True
    ) -> Iterator[Document | Rejected]:
        """The documents of those files of ``paths`` that are ``wanted``. A file that an OCR output
        among them is about is not read: the output says what is in it."""
        about = self._outputs(paths)
        known = set(about.values())
        for path in paths:
            if path not in known and wanted(about.get(path, path)):
                yield from self._read(path, about.get(path))

    def _read(self, path: Path, subject: Path | None) -> Iterator[Document | Rejected]:
        try:
            if (size := path.stat().st_size) > self._settings.max_file_bytes:
                limit = self._settings.max_file_bytes
                yield Rejected(str(path), f"has {size} bytes; SAFEPASSAGE_MAX_FILE_BYTES = {limit}")
                return
            raw = path.read_bytes()
            kind = kind_of(path.name, raw)
            if kind is Kind.TEXT:
                yield self._text(path, raw)
                return
            shown = subject or path
            digest = _digest(subject) if subject else hashlib.sha256(raw).hexdigest()
            shown_type = _media_type(subject, self._settings.max_file_bytes) if subject else None
        except OSError as error:
            yield Rejected(str(path), f"cannot be read: {error.strerror}")
            return
        if kind is Kind.UNKNOWN and b"\0" in raw[:4096]:
            yield _binary(path)
            return
        yield from self._documents(shown, self._intake.read(path.name, raw), digest, shown_type)

    def _documents(
        self, path: Path, imported: Imported, digest: str, shown_type: str | None
    ) -> Iterator[Document | Rejected]:
        for part in imported.parts:
            doc_id = _document_id(path, part)
            uri = self._uri(path)
            if len(doc_id) > MAX_ID_CHARACTERS or len(uri) > MAX_URI_CHARACTERS:
                yield Rejected(doc_id[:MAX_ID_CHARACTERS], "its path is too long")
                continue
            original = Original(
                uri=uri,
                digest=digest,
                media_type=shown_type or part.media_type,
                part=part.part,
                omissions=part.omissions,
            )
            document = Document(id=doc_id, text=part.text, layout=part.layout, original=original)
            yield self._fitting(document)
        for refused in imported.refused:
            place = f"{path}: {refused.name}" if refused.name else str(path)
            yield Rejected(place, refused.reason)

    def _fitting(self, document: Document) -> Document:
        """With fewer regions where a region for each word is more than a record may hold."""
        if document.layout and len(document.to_json()) > self._settings.max_record_bytes:
            return document.model_copy(update={"layout": document.layout.by_lines()})
        return document

    def _text(self, path: Path, raw: bytes) -> Document | Rejected:
        limit = self._settings.max_record_bytes
        if len(raw) > limit:
            return Rejected(
                str(path),
                f"has {len(raw)} bytes; the limit is SAFEPASSAGE_MAX_RECORD_BYTES = {limit}",
            )
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            reason = f"is not UTF-8 text (byte {error.start}); convert it first"
            return Rejected(str(path), reason)
        if "\0" in text:
            return Rejected(
                str(path), "looks binary (it holds NUL characters); extract its text first"
            )
        return Document(id=path_id(path), text=text)

    def _uri(self, path: Path) -> str:
        """Below the folder of originals, from there; else from the root of the file system."""
        found = path.resolve()
        if self._root and found.is_relative_to(self._root):
            found = found.relative_to(self._root)
        return unicodedata.normalize("NFC", found.as_posix())

    def _outputs(self, paths: Sequence[Path]) -> dict[Path, Path]:
        return {output: of for output in paths if (of := self._subject(output, paths))}

    def _subject(self, output: Path, paths: Sequence[Path]) -> Path | None:
        """The file that an OCR output is about, by its name: ``scan.pdf.json`` or ``scan.json``
        is about ``scan.pdf``."""
        if output.suffix.lower() not in _OCR_OUTPUTS:
            return None
        siblings = {p for p in (*paths, *_siblings(output)) if p.parent == output.parent}
        name = output.name
        while "." in name:
            name = name.rpartition(".")[0]
            for sibling in sorted(siblings):
                is_paged = sibling.suffix.lower() in _PAGED
                if is_paged and name in (sibling.name, sibling.stem) and self._is_output(output):
                    return sibling
        return None

    def _is_output(self, path: Path) -> bool:
        try:
            most = self._settings.max_file_bytes
            is_read = path.stat().st_size <= most
            return is_read and kind_of(path.name, beginning(path, most)).is_ocr_output
        except OSError:
            return False


def _binary(path: Path) -> Rejected:
    return Rejected(
        str(path), "looks binary (it holds NUL characters), and is of no kind that is read"
    )


def _siblings(output: Path) -> Iterator[Path]:
    stem = output.name.partition(".")[0]
    yield from (p for p in output.parent.glob(f"{escape(stem)}.*") if p.is_file())


def _media_type(path: Path, most: int) -> str:
    raw = beginning(path, most)
    return media_type(kind_of(path.name, raw), raw)


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def path_id(path: Path) -> str:
    """The id of the document in a file: its path as given."""
    return unicodedata.normalize("NFC", str(path))


def _document_id(path: Path, part: ImportedPart) -> str:
    if not part.part:
        return path_id(path)
    return f"{path_id(path)}#{'.'.join(map(str, part.part))}/{part.name}"
