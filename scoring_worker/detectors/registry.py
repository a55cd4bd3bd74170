"""The detectors by name: those that come with SafePassage, as ``registry.json`` declares them, and
those of third parties. A detector costs nothing until it is loaded: what loads it is named, and
imported only then.

A third party's package names `Declaration` objects under the entry point group
``safepassage.detectors``. What of them cannot be read is listed as broken, and stops nothing else.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from safepassage.scoring_worker.manifest import ModelError

from .contract import Declaration, Detector, DetectorSettings

GROUP = "safepassage.detectors"


class UnknownDetector(ModelError):
    """A detector was asked for that does not exist; the message lists those that do."""


@dataclass(frozen=True, slots=True)
class LazyLoad:
    """The ``load`` of a declaration: ``function`` of ``module`` in ``package``. Where one function
    loads several detectors, it is given the ``detector`` first.

    Calling it raises what the function raises, and ImportError where a package is missing.
    """

    module: str
    function: str
    detector: str | None = None
    package: str = str(__package__)

    def __call__(self, settings: DetectorSettings) -> Detector:
        load = self.imported()
        return load(settings) if self.detector is None else load(self.detector, settings)

    def imported(self) -> Callable[..., Detector]:
        """The function, with the libraries of its module."""
        found: Any = getattr(import_module(f"{self.package}.{self.module}"), self.function)
        load: Callable[..., Detector] = found
        return load


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry point that gives no declaration; ``why`` names the fault and quotes nothing."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Declarations:
    """Every detector by name, built-in ones first, and the entry points that are broken."""

    detectors: dict[str, Declaration]
    broken: tuple[Broken, ...] = ()


def declarations(points: Iterable[EntryPoint] | None = None) -> Declarations:
    """What there is; ``points`` by default those of the installed packages."""
    own = declared_in(Path(__file__).with_name("registry.json"), str(__package__))
    detectors = {declaration.name: declaration for declaration in own}
    broken = []
    found = entry_points(group=GROUP) if points is None else points
    for point in sorted(found, key=lambda point: (point.name, point.value)):
        for read in _read(point):
            if isinstance(read, Broken):
                broken.append(read)
            elif read.name in detectors:
                broken.append(Broken(point.name, f"there is a detector {read.name!r} already"))
            else:
                detectors[read.name] = read
    return Declarations(detectors, tuple(broken))


def load_detector(
    name: str, settings: DetectorSettings | None = None, *, among: Declarations | None = None
) -> Detector:
    """The detector of that name. Raises `UnknownDetector` where nothing has that name; `ModelError`
    where what it needs is not there; the message says what."""
    known = among or declarations()
    declaration = known.detectors.get(name)
    if declaration is None:
        raise UnknownDetector(f"no detector {name!r}; there are: {', '.join(known.detectors)}")
    try:
        return declaration.load(settings or DetectorSettings())
    except ImportError as error:
        missing = error.name or "a package"
        raise ModelError(f"detector {name!r} needs {missing}, which is not installed") from error


def declared_in(file: Path, package: str) -> Iterator[Declaration]:
    """Every declaration of a file of ours, in its order; no detector's library is imported."""
    for row in json.loads(file.read_text("utf-8")):
        sets = {name: frozenset(row[name]) for name in ("needs", "judges")}
        yield Declaration(**{**row, **sets, "load": LazyLoad(**row["load"], package=package)})


def _read(point: EntryPoint) -> Iterator[Declaration | Broken]:
    try:
        given = point.load()
    except Exception as error:  # noqa: BLE001 - code of others may raise anything
        yield Broken(point.name, f"cannot be imported: {type(error).__name__}")
        return
    several = given if isinstance(given, tuple | list) else (given,)
    for one in several:
        if isinstance(one, Declaration):
            yield one
        else:
            yield Broken(point.name, f"is no Declaration but {type(one).__name__}")
