"""Folders of weights: local, or fetched from the model hub."""

from __future__ import annotations

import hashlib
from pathlib import Path

from safepassage.scoring_worker.manifest import ModelError, file_digest

_HUB_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]


def base_folder(base: str, folder: Path | None) -> Path:
    """The folder of base weights: relative to ``folder``, or fetched from the hub.

    A hub id may name a revision behind an "@", so that weights do not change under a figure.

    Raises:
        ModelError: it is not there and cannot be fetched.
    """
    if folder is not None and (folder / base).is_dir():
        return folder / base
    return _from_hub(base)


def named_folder(named: str) -> Path:
    """The local folder ``named``, or that of a hub id.

    Raises:
        ModelError: there is neither.
    """
    folder = Path(named).expanduser()
    return folder if folder.is_dir() else _from_hub(named)


def base_digest(folder: Path) -> str:
    """Hex digits that change with the config, the vocabulary or any weight of ``folder``."""
    digest = hashlib.sha256()
    for pattern in ("config.json", "tokenizer.json", "*.safetensors"):
        for path in sorted(folder.glob(pattern)):
            digest.update(f"{path.name} {file_digest(path)}\n".encode())
    return digest.hexdigest()


def _from_hub(base: str) -> Path:
    from huggingface_hub import snapshot_download  # noqa: PLC0415 (only hub ids need it)
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    try:
        name, _, revision = base.partition("@")
        return Path(snapshot_download(name, revision=revision or None, allow_patterns=_HUB_FILES))
    except (OSError, ValueError, HfHubHTTPError) as error:
        raise ModelError(
            f"cannot fetch {base!r} from the model hub: {first_line(error)}; with no access to the "
            "hub, give the path of a folder that holds the model"
        ) from error


def first_line(error: BaseException) -> str:
    """The first line of an error that libraries spread over many."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
