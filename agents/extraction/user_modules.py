"""Modules that a user names in a setting."""

import importlib
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

_ROOT = Path(__file__).resolve().parents[2]
_OURS = tuple(_ROOT / room for room in ("agents", "schemas", "scoring_worker", "streams"))


def imported_module(name: str) -> ModuleType:
    """The user's module ``name``: from the working directory, else from Python's path.

    A file of the user wins over a module of this program, or of a library that it has already
    imported, that has the same name. Raises what the import or the module itself raises."""
    here = str(Path.cwd())
    if here not in sys.path:  # an installed command does not look there
        sys.path.append(here)
    package = name.partition(".")[0]
    spec = _found(package, (here, *sys.path))
    if spec is None or spec.origin is None:
        return importlib.import_module(name)
    loaded = sys.modules.get(package)
    if loaded is None or _is_from(loaded, spec.origin):
        return _imported_from(spec.origin, name)
    return _beside(spec, spec.origin) if name == package else importlib.import_module(name)


def _found(package: str, folders: tuple[str, ...]) -> ModuleSpec | None:
    if not package:
        return None
    specs = (PathFinder.find_spec(package, [folder]) for folder in folders)
    return next(
        (spec for spec in specs if spec and spec.origin and not _is_ours(spec.origin)), None
    )


def _is_ours(origin: str) -> bool:
    return Path(origin).resolve().parent in _OURS


def _is_from(module: ModuleType, origin: str) -> bool:
    return getattr(module, "__file__", None) == origin


def _imported_from(origin: str, name: str) -> ModuleType:
    """The module, with the folder of its file first on the path, as for a script."""
    file = Path(origin)
    folder = str(file.parents[1] if file.name == "__init__.py" else file.parent)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


def _beside(spec: ModuleSpec, origin: str) -> ModuleType:
    """The module under a name of its own: who imported the other one keeps it."""
    name = f"user_{spec.name}"
    if (known := sys.modules.get(name)) and _is_from(known, origin):
        return known
    places = spec.submodule_search_locations
    own = spec_from_file_location(name, origin, submodule_search_locations=places)
    if own is None or own.loader is None:
        raise ImportError(f"{origin} is no module")
    module = module_from_spec(own)
    sys.modules[name] = module  # where pydantic looks up what annotations name
    try:
        own.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
