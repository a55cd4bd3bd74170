"""Models that ship in distributions of their own.

Such a distribution names a function under the entry point group ``safepassage.models``, which
returns the folder of its model. Its code is trusted as any installed package is; its files are
verified as those of any model.
"""

from importlib.metadata import entry_points
from pathlib import Path

from safepassage.scoring_worker.manifest import ModelError

GROUP = "safepassage.models"


def is_installed(name: str) -> bool:
    """Whether a distribution says that it brings the model ``name``."""
    return bool(entry_points(group=GROUP, name=name))


def installed_model(name: str) -> Path:
    """The folder of the model that an installed distribution calls ``name``. Raises `ModelError`:
    none does, several do, or its distribution is broken."""
    found = sorted(entry_points(group=GROUP, name=name), key=lambda point: point.value)
    if not found:
        raise ModelError(
            f"the weights of {name!r} are not installed: pip install 'safepassage[{name}]'"
        )
    if len({point.value for point in found}) > 1:
        values = ", ".join(point.value for point in found)
        raise ModelError(f"several distributions bring a model {name!r}: {values}; remove one")
    try:
        folder = Path(found[0].load()())
    except Exception as error:
        # Its message may quote anything, so only its type is told.
        raise ModelError(
            f"the distribution with the weights of {name!r} is broken "
            f"({type(error).__name__}): install 'safepassage[{name}]' again"
        ) from error
    if not folder.is_dir():
        raise ModelError(
            f"{folder} is missing: install 'safepassage[{name}]' again, with its weights"
        )
    return folder
