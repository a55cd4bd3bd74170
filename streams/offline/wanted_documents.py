"""Which document an extraction means: by its id, or by the end of the id, where that is unique."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from safepassage.agents.intake.file_kinds import Kind, beginning, kind_of
from safepassage.files import path_id

SHOWN = 5
HINT = "`safepassage files PATH` prints the ids of the documents"


class UnknownDocuments(ValueError):
    """No extraction names any of the documents."""

    def __init__(self, wanted: Iterable[str], there: Iterable[str], refused: Sequence[str]) -> None:
        """``refused`` are the lines of what was no document."""
        known = _some(there)
        why = f"none of the documents is called so: {known}" if known else "there is no document"
        unread = "".join(f"; refused {line}" for line in refused[:SHOWN])
        super().__init__(f"the extractions name {_some(wanted)}, and {why}{unread}; {HINT}")


class WantedDocuments:
    """The documents that extractions name. The end of an id represents it, from a ``/`` on:
    ``claim.eml`` for ``in/claim.eml``, ``note.pdf`` for ``in/claim.eml#2/note.pdf``."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self._stems = {PurePath(name).name.partition(".")[0] for name in self.names}
        self._of_files = self.names | {name.partition("#")[0] for name in self.names}

    def may_be_in(self, path: Path, most_bytes: int) -> bool:
        """Whether one may be in the file at ``path``, of which at most ``most_bytes`` are read."""
        if not self._of_files.isdisjoint(_ends(path_id(path))):
            return True
        return _kind(path, most_bytes) is Kind.MAIL  # its attachments have names of their own

    def may_be_read_from(self, path: Path, most_bytes: int) -> bool:
        """Whether one may be in the file, or in ``scan.json`` read in ``scan.pdf`` by another."""
        return path.name.partition(".")[0] in self._stems or self.may_be_in(path, most_bytes)

    def resolved(self, ids: Iterable[str]) -> tuple[dict[str, str], list[str]]:
        """Of each name the id among ``ids`` that it represents, and a line for each name that
        represents none or several."""
        meant: dict[str, list[str]] = {}
        for doc_id in ids:
            for end in _ends(doc_id):
                if end in self.names:
                    meant.setdefault(end, []).append(doc_id)
        found, problems = {}, []
        for name in sorted(self.names):
            candidates = meant.get(name, [])
            exact = [doc_id for doc_id in candidates if doc_id == name] or candidates
            if len(exact) == 1:
                found[name] = exact[0]
            elif exact:
                problems.append(f"{name!r} is the name of several documents: {_some(exact)}")
            else:
                problems.append(f"no document is called {name!r}; {HINT}")
        return found, problems


def _ends(doc_id: str) -> Iterator[str]:
    yield doc_id
    at = doc_id.find("/")
    while at >= 0:
        yield doc_id[at + 1 :]
        at = doc_id.find("/", at + 1)


def _kind(path: Path, most_bytes: int) -> Kind:
    try:
        return kind_of(path.name, beginning(path, most_bytes))
    except OSError:
        return Kind.UNKNOWN  # it is said where it is read


def _some(names: Iterable[str]) -> str:
    known = sorted(set(names))
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return ", ".join(map(repr, known[:SHOWN])) + more
