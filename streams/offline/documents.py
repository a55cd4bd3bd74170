"""Documents and answers from files, folders and JSON lines."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from safepassage.files import FileReader, Rejected
from safepassage.schemas import Document, Response, text_digest
from safepassage.schemas.jsonl import BadLine, read_jsonl

from ..settings import Settings

ROW_MEDIA_TYPE = "application/jsonl"
ROW_SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")

Submittable = Document | Response


def read_documents(
    paths: Sequence[Path],
    settings: Settings,
    model: type[Submittable] = Document,
    wanted: Callable[[Path], bool] = lambda _: True,
) -> Iterator[Submittable | Rejected]:
    """The documents of those files of any kind that are ``wanted``, of folders (recursively,
    hidden files left out) and of JSON lines, whose rows are of ``model``.

    A file's id is its path as given; an attachment's has its number and name behind it. The same
    id with the same text is one document; with another text it is refused, since verdicts would
    mix.
    """
    seen: dict[str, str] = {}
    with FileReader(settings) as reader:
        for found in (found for path in paths for found in _read_path(path, reader, model, wanted)):
            if isinstance(found, Rejected):
                yield found
            elif refusal := _refuse(found, seen, settings):
                yield refusal
            elif found.id not in seen or _in_parts(found):
                seen[found.id] = _digest(found)
                yield found


def document_ids(paths: Sequence[Path], settings: Settings) -> Iterator[tuple[str, str] | Rejected]:
    """Id and media type of each document of ``paths``, with as little reading as it takes."""
    with FileReader(settings) as reader:
        for path in paths:
            if not path.exists():
                yield Rejected(str(path), "there is no such file or folder")
                continue
            found = files_of(path)
            rows = [child for child in found if has_row_name(child)]
            for child in rows:
                for row in read_jsonl(child, Document):
                    if isinstance(row, BadLine):
                        yield _rejected_line(row)
                    else:
                        yield row.id, ROW_MEDIA_TYPE
            yield from reader.ids_of([child for child in found if child not in rows])


def _read_path(
    path: Path, reader: FileReader, model: type[Submittable], wanted: Callable[[Path], bool]
) -> Iterator[Submittable | Rejected]:
    if not path.exists():
        yield Rejected(str(path), "there is no such file or folder")
        return
    files: list[Path] = []
    for child in files_of(path):
        if has_row_name(child):
            for row in read_jsonl(child, model):
                yield _rejected_line(row) if isinstance(row, BadLine) else row
        elif model is Response:
            yield Rejected(str(child), "answers come as JSON lines (.jsonl, .jsonl.gz)")
        else:
            files.append(child)
    yield from reader.read_all(files, wanted)


def has_row_name(path: Path) -> bool:
    """Whether what is at ``path`` is rows by its name; a pipe has none, and is."""
    return path.name.endswith(ROW_SUFFIXES) or path.is_fifo()


def files_of(path: Path) -> list[Path]:
    """The files of a folder, hidden ones left out; a file is its own."""
    if not path.is_dir():
        return [path]
    found = (p for p in sorted(path.rglob("*")) if p.is_file())
    return [path for path in found if not path.name.startswith(".")]


def _rejected_line(bad: BadLine) -> Rejected:
    return Rejected(f"{bad.path}:{bad.line}", bad.reason)


def _refuse(document: Submittable, seen: dict[str, str], settings: Settings) -> Rejected | None:
    if not document.text.strip():
        return Rejected(document.id, "the text is empty")
    if len(document.text) > settings.max_document_characters:
        return Rejected(
            document.id,
            f"has {len(document.text)} characters; the limit is "
            f"SAFEPASSAGE_MAX_DOCUMENT_CHARACTERS = {settings.max_document_characters}",
        )
    if (size := len(document.to_json())) > settings.max_record_bytes:
        limit = f"SAFEPASSAGE_MAX_RECORD_BYTES = {settings.max_record_bytes}"
        return Rejected(document.id, f"has {size} bytes; the limit is {limit}")
    if seen.get(document.id, digest := _digest(document)) != digest and not _in_parts(document):
        return Rejected(document.id, "this id was used before for another text")
    return None


def _in_parts(document: Submittable) -> bool:
    return isinstance(document, Response) and document.part is not None


def _digest(document: Submittable) -> str:
    return text_digest(document.model_dump_json(exclude={"meta", "layout", "original"}))
