"""Base weights that do not ship: of one commit of a hub's repository, or a copy of them here.

Wherever they come from, they are believed by their SHA-256 alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from safepassage.scoring_worker.manifest import ModelError, file_digest

PINNED = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)@([0-9a-f]{40})")
"""A hub id and a commit."""
WEIGHTS_FILE = "model.safetensors"


class LargeSettings(BaseSettings):
    """Where the base of `large` lies, for machines without access to the hub: the file
    ``model.safetensors``, or the folder that holds it."""

    model_config = SettingsConfigDict(env_prefix="SAFEPASSAGE_", frozen=True, extra="ignore")

    large_base: Path | None = Field(default=None)


def pinned_weights(base: str, digest: str | None) -> Path:
    """The file of weights that ``base`` ("owner/name@commit") means, with the SHA-256 ``digest``:
    the copy that SAFEPASSAGE_LARGE_BASE names, else fetched, once, into the hub's cache.

    Raises:
        ModelError: there is none, or it is another; or ``base`` or ``digest`` pin nothing.
    """
    named = PINNED.fullmatch(base)
    if named is None or digest is None:
        raise ModelError(f"{base!r}: a base on the hub is owner/name@commit, with its digest")
    copy = LargeSettings().large_base
    path = _fetched(*named.groups()) if copy is None else _copied(copy.expanduser())
    if file_digest(path) != digest:
        raise ModelError(f"{path} is not the base that the adapter was trained on ({base})")
    return path


def _copied(given: Path) -> Path:
    path = given / WEIGHTS_FILE if given.is_dir() else given
    if not path.is_file():
        raise ModelError(f"SAFEPASSAGE_LARGE_BASE: there is no file {path}")
    return path


def _fetched(repository: str, commit: str) -> Path:
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 (only hub ids need it)
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    try:
        return Path(hf_hub_download(repository, WEIGHTS_FILE, revision=commit))
    except (OSError, ValueError, HfHubHTTPError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelError(
            f"cannot fetch {repository}@{commit} from the model hub: {first[:300]}; with no access "
            f"to the hub, set SAFEPASSAGE_LARGE_BASE to a copy of its {WEIGHTS_FILE}"
        ) from error
