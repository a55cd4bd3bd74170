"""int8 layers as they were made once, kept in the user's cache: to make those of a large reader
takes two seconds of a processor and 100 MB, at every start, and they are the same each time.

They depend on the weights, on torch and on the CPU: a file is for one of each. Only files of this
user that nobody else may write are read.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from .int8_layers import PARTS, Int8Linear

log = structlog.get_logger(__name__)

LAYOUT = 1
MOST_FILES = 4
"""Of several readers and versions; the oldest go."""


class PreparedLayers:
    """The int8 layers of the weights with that ``identity``, in the order in which they are made.
    Where nothing can be kept, nothing is."""

    def __init__(self, identity: str) -> None:
        made_by = (LAYOUT, identity, torch.__version__, torch.backends.cpu.get_cpu_capability())
        name = hashlib.sha256(repr(made_by).encode()).hexdigest()[:32]
        self._path = _folder() / f"{name}.safetensors"

    def read(self) -> Iterator[Int8Linear] | None:
        """The layers; None where none are kept."""
        try:
            own = self._path.lstat()
            trusted = stat.S_ISREG(own.st_mode) and own.st_uid == os.geteuid()
            if not trusted or own.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
            opened: Any = safe_open(self._path, framework="pt")
            os.utime(self._path)
        except (OSError, SafetensorError):
            return None
        count = len(opened.keys()) // len(PARTS)
        return (
            Int8Linear.of_parts({part: opened.get_tensor(f"{number}.{part}") for part in PARTS})
            for number in range(count)
        )

    def write(self, layers: Iterable[Int8Linear]) -> None:
        """Keep ``layers``; that it cannot be done costs the next start its time, and no more."""
        tensors = {
            f"{number}.{part}": tensor
            for number, layer in enumerate(layers)
            for part, tensor in layer.parts().items()
        }
        folder = self._path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            kept = sorted(folder.glob("*.safetensors"), key=lambda path: path.stat().st_mtime)
            for path in kept[: max(0, len(kept) - MOST_FILES + 1)]:
                path.unlink(missing_ok=True)
            number, partial = tempfile.mkstemp(dir=folder, suffix=".partial")
            os.close(number)
            try:
                save_file(tensors, partial)
                os.replace(partial, self._path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(partial)
                raise
        except (OSError, SafetensorError) as error:
            log.info("layers_not_kept", error=type(error).__name__)


def _folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The specification of these folders ignores a relative path.
    folder = Path(named) if Path(named).is_absolute() else Path("~/.cache").expanduser()
    return folder / "safepassage" / "int8"
