"""What lies on disk: originals, the learn folder, and scorers that learnt from a document."""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import ValidationError

from safepassage.scoring_worker.manifest import MANIFEST_NAME, ScorerManifest
from safepassage.scoring_worker.scorer_spec import ScorerSpec

from ..learning.silver import GRADED, SAMPLE
from ..learning.task import REVIEWS
from ..release.releases import releases_in_force
from ..settings import Settings


@dataclass(frozen=True, slots=True)
class Taught:
    """A scorer's folder, and whether it learnt from a document; None if unknown, and ``why``."""

    folder: Path
    revision: str
    learnt: bool | None
    why: str = "it does not say from what it learnt"


def learnt_files(settings: Settings) -> Iterator[Path]:
    """The files of the learn folder that hold reviews or extractions."""
    for name in (REVIEWS, SAMPLE):
        yield from sorted(settings.learn_folder.glob(f"*/{name}"))


def lines_about(path: Path, documents: Collection[str]) -> int:
    return sum(_is_about(line, documents) for line in path.read_bytes().splitlines())


def without(path: Path, documents: Collection[str]) -> None:
    """Write the file without the lines about the documents.

    What the grader said names lines by their number, so it goes where a line of the sample does.
    """
    kept = [line for line in path.read_bytes().splitlines() if not _is_about(line, documents)]
    if path.name == SAMPLE:
        (path.parent / GRADED).unlink(missing_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.touch(mode=0o600)
    partial.write_bytes(b"".join(line + b"\n" for line in kept))
    os.replace(partial, path)


async def taught_scorers(settings: Settings, documents: Collection[str]) -> list[Taught]:
    """The scorers of the learn folder, of the releases and of the settings, as far as their
    folders lie here, and whether they learnt from one of the documents."""
    named = [settings.scorer, settings.shadow_scorer]
    releases = (await releases_in_force(settings)).releases.values()
    named += [name for r in releases for name in (r.scorer, r.previous)]
    found = []
    for folder in _folders([name for name in named if name], settings.learn_folder):
        try:
            raw = (folder / MANIFEST_NAME).read_bytes()
            manifest = ScorerManifest.model_validate_json(raw)
        except (OSError, ValidationError):
            continue  # a scorer by name, or of another machine
        found.append(_taught(folder, manifest, documents))
    return found


def _taught(folder: Path, manifest: ScorerManifest, documents: Collection[str]) -> Taught:
    said = manifest.learnt_from
    if said is None:
        return Taught(folder, manifest.revision, None)
    try:
        return Taught(folder, manifest.revision, any(said.knows(one) for one in documents))
    except ValueError as error:  # its key is not here
        return Taught(folder, manifest.revision, None, str(error))


def _folders(named: Iterable[str], learn_folder: Path) -> list[Path]:
    folders = {Path(ScorerSpec.parse(name).values).resolve() for name in named}
    candidates = learn_folder.glob(f"*/*/{MANIFEST_NAME}")
    return sorted(folders | {path.parent.resolve() for path in candidates})


def _is_about(line: bytes, documents: Collection[str]) -> bool:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    parts = [row.get(name) for name in ("verdict", "extraction")] if isinstance(row, dict) else []
    return any(isinstance(part, dict) and part.get("doc_id") in documents for part in parts)
