"""The topic of the keys: made once, wrapped again, and what a process without them does."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from safepassage.schemas import Document
from safepassage.streams.doctor.examination import check_erasures
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.reading import read_erasures, read_topics
from safepassage.streams.kafka.records import ErasedRecord, decode
from safepassage.streams.privacy.erasure import erase
from safepassage.streams.privacy.keys import create_keys, rewrap_keys
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.sealing.frame import KeysUnusable, is_sealed
from safepassage.streams.sealing.seals import Seals
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS, KEYS

from .deployment import add_master_key, deploy, forget_what_is_known


async def documents(settings: Settings) -> list[str]:
    """The documents that can be read; all are sealed."""
    found = []
    async for record in read_topics(settings, [DOCUMENTS]):
        assert is_sealed(record.value)
        with contextlib.suppress(ErasedRecord):
            found.append(decode(record, Document).event.id)
    return found


async def test_keys_are_made_once(sealed: Settings) -> None:
    with pytest.raises(OperatorError, match="rewrap"):
        await create_keys(sealed)
    assert len([record async for record in read_topics(sealed, [KEYS])]) == 1


async def test_nothing_is_written_where_there_are_no_keys_yet(
    plain: Settings, tmp_path: Path
) -> None:
    settings = plain.model_copy(update={"keys_file": add_master_key(tmp_path / "keys")})
    await create_topics(settings)
    with pytest.raises(KeysUnusable, match="keys create"):
        await deploy(settings, ["doc"])
    (found,) = await check_erasures(settings)
    assert (found.subject, found.state) == ("keys", "failed")


async def test_master_key_is_rotated_without_a_record_lost(sealed: Settings) -> None:
    assert sealed.keys_file
    await deploy(sealed, ["gone", "stays"])
    await erase(sealed, ["gone"], "Ana", "asked for it")
    old = sealed.keys_file.read_bytes()
    add_master_key(sealed.keys_file)
    forget_what_is_known(sealed)
    count, name = await rewrap_keys(sealed)
    assert count > 1
    new = sealed.keys_file.read_bytes().splitlines(keepends=True)[0]

    # As compaction leaves the topic, the new key alone is enough, and the old one opens nothing.
    latest = {record.key: record.value async for record in read_topics(sealed, [KEYS])}
    sealed.keys_file.write_bytes(new)
    seals = Seals(sealed.keys_file)
    for key, value in latest.items():
        seals.note(key, value)
    assert [seals.tree.has(name) for name in ("gone", "stays")] == [False, True]
    assert seals.masters.first == name
    sealed.keys_file.write_bytes(old)
    key, value = next((k, v) for k, v in latest.items() if v is not None)
    with pytest.raises(KeysUnusable, match="lacks the key"):
        Seals(sealed.keys_file).note(key, value)
    sealed.keys_file.write_bytes(new + old)
    forget_what_is_known(sealed)
    assert await documents(sealed) == ["stays"]


async def test_doctor_tells_of_erasures_that_did_not_end(
    sealed: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await deploy(sealed, ["gone"])
    away = sealed.model_copy(update={"originals": None})
    report = await erase(away, ["gone"], "Ana", "asked for it")
    assert report.unreached
    keys, erasures = await check_erasures(sealed)
    assert (keys.state, erasures.state) == ("ok", "warning")
    await erase(sealed, ["gone"], "Ana", "asked for it")
    assert [found.subject for found in await check_erasures(sealed)] == ["keys"]
    assert (await read_erasures(sealed)).erased("gone")
