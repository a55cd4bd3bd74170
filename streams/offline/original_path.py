"""Where the file lies that a document was read from. An event says so, and events are anybody's."""

from pathlib import Path

from safepassage.schemas import Original


def original_path(root: Path, original: Original) -> Path | None:
    """The file of ``original``, if there is one below ``root``."""
    if "://" in original.uri or "\0" in original.uri:
        return None
    try:
        path = (root / original.uri).resolve()
    except RuntimeError:  # links in a circle, before Python 3.13
        return None
    return path if path.is_relative_to(root.resolve()) and path.is_file() else None
