"""Deployments with and without keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.privacy.keys import create_keys
from safepassage.streams.settings import Settings

from .deployment import add_master_key


@pytest.fixture
def plain(kafka: Settings, tmp_path: Path) -> Settings:
    """A deployment without keys."""
    folders = {"originals": tmp_path / "originals", "learn_folder": tmp_path / "learnt"}
    return kafka.model_copy(update=folders)


@pytest.fixture
async def sealed(plain: Settings, tmp_path: Path) -> Settings:
    """A deployment whose records are sealed."""
    path = add_master_key(tmp_path / "keys")
    settings = plain.model_copy(update={"keys_file": path})
    await create_topics(settings)
    await create_keys(settings)
    return settings
