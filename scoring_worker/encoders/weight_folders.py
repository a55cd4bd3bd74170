"""Folders of weights: local, or fetched from the model hub.

Safetensors are fetched first. Weights that are published as a pickle alone need a commit, so that
nobody can put other ones in their place.
"""

import hashlib
import re
from pathlib import Path
from typing import Final

from safepassage.scoring_worker.manifest import ModelError, file_digest

from .published import HEM_FOUNDATION, pinned

VOCABULARIES: Final = ["*.json", "*.txt", "*.model"]
PICKLES: Final = "pytorch_model*.bin"
CHECKPOINTS: Final = "*.ckpt"
TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "vocab.json")
SENTENCEPIECES: Final = ("spm.model", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model")
_HUB_FILES: Final = [*VOCABULARIES, "*.safetensors"]
_COMMIT = re.compile(r"[0-9a-f]{40}")


def base_folder(base: str, folder: Path | None) -> Path:
    """The folder of base weights: relative to ``folder``, or fetched from the hub.

    A hub id may name a revision behind an "@", so that weights do not change under a figure. Raises
    `ModelError` where it is not there and cannot be fetched."""
    if folder is not None and (folder / base).is_dir():
        return folder / base
    return from_hub(base)


def named_folder(named: str) -> Path:
    """The local folder ``named``, or that of a hub id. Raises `ModelError` where there is
    neither."""
    folder = Path(named).expanduser()
    return folder if folder.is_dir() else from_hub(named)


def foundation_of(folder: Path) -> Path:
    """Config and tokenizer of the HHEM in ``folder``: the folder "foundation" in it, or the hub's.
    Raises `ModelError` where there are neither."""
    local = folder / "foundation"
    return local if local.is_dir() else from_hub(HEM_FOUNDATION, VOCABULARIES)


def base_digest(folder: Path) -> str:
    """Hex digits that change with the config, the vocabulary or any weight of ``folder``."""
    digest = hashlib.sha256()
    words = (folder / "tokenizer.json").exists()
    vocabularies = ("tokenizer.json",) if words else (*TOKENIZERS, "merges.txt", *SENTENCEPIECES)
    weights = "*.safetensors" if any(folder.glob("*.safetensors")) else PICKLES
    for pattern in ("config.json", *vocabularies, weights, CHECKPOINTS):
        for path in sorted(folder.glob(pattern)):
            digest.update(f"{path.name} {file_digest(path)}\n".encode())
    return digest.hexdigest()


def from_hub(base: str, files: list[str] = _HUB_FILES) -> Path:
    """The folder of ``files`` of a hub id. Raises `ModelError` where it cannot be fetched, or has a
    pickle alone and no commit is named."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415 (only hub ids need it)
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    name, _, revision = pinned(base).partition("@")
    try:
        folder = Path(snapshot_download(name, revision=revision or None, allow_patterns=files))
        if "*.safetensors" not in files or any(folder.glob("*.safetensors")):
            return folder
        if not _COMMIT.fullmatch(revision):
            raise ModelError(
                f"{name} has no safetensors: look its weights over and name their commit, "
                f"{name}@<40 hex digits>"
            )
        return Path(snapshot_download(name, revision=revision, allow_patterns=[*files, PICKLES]))
    except (OSError, ValueError, HfHubHTTPError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(
            f"cannot fetch {base!r} from the model hub: {first_line(error)}; with no access to the "
            "hub, give the path of a folder that holds the model"
        ) from error


def first_line(error: BaseException) -> str:
    """The first line of an error that libraries spread over many."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
