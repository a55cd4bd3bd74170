"""The topic ``keys``: made, wrapped again under another master key, and without erased documents.

What is added is acknowledged before anything is deleted, so a run that was cut off leaves too many
keys and never too few; the next erasure looks for those.
"""

import os
from collections.abc import Collection, Mapping

from aiokafka import AIOKafkaProducer

from ..kafka.admin import create_topics
from ..kafka.publisher import open_publisher, send_values
from ..kafka.reading import read_erasures
from ..runtime.errors import OperatorError
from ..sealing.key_tree import KEY_BYTES, ROOT
from ..sealing.seals import Seals, node_key
from ..settings import Settings
from ..topics import KEYS

ROUNDS = 5


async def create_keys(settings: Settings) -> str:
    """Make the root of the key tree; returns the name of the master key that wraps it."""
    await create_topics(settings, needed=[KEYS])
    seals = await _seals(settings)
    if seals.tree.nodes:
        raise OperatorError("there are keys already: `safepassage keys rewrap` changes what wraps")
    async with open_publisher(settings) as publisher:
        await _write(settings, publisher.producer, seals, {ROOT: os.urandom(KEY_BYTES)})
    await _seals(settings)
    return seals.masters.first


async def rewrap_keys(settings: Settings) -> tuple[int, str]:
    """Wrap every node under the first key of the file; returns how many, and that key's name. The
    other keys of the file can go once the broker has compacted the topic."""
    seals = await _seals(settings)
    nodes = dict(seals.tree.nodes)
    async with open_publisher(settings) as publisher:
        await _write(settings, publisher.producer, seals, nodes)
        await delete_keys(settings, publisher.producer, ())
    return len(nodes), seals.masters.first


async def delete_keys(
    settings: Settings, producer: AIOKafkaProducer, names: Collection[str]
) -> int:
    """Delete the keys of ``names``, and what another run brought back; returns how many."""
    deleted = 0
    for _ in range(ROUNDS):
        seals = await _seals(settings)
        known = await read_erasures(settings)
        done = {doc_id for doc_id, erasure in known.erasures.items() if erasure.done_at}
        there = [name for name in sorted({*names, *done}) if seals.tree.has(name)]
        if not there or not seals.tree.nodes:
            return deleted
        deleted += len(there)
        before, after = seals.tree, seals.tree.without(there)
        new = {path: node for path, node in after.nodes.items() if path not in before.nodes}
        await _write(settings, producer, seals, new)
        gone = before.nodes.keys() - after.nodes.keys()
        topic = settings.topic(KEYS.name)
        await send_values(producer, topic, {node_key(path).encode(): None for path in gone})
    raise OperatorError("keys come back: another erasure or rewrap runs; run this one again")


async def _seals(settings: Settings) -> Seals:
    known = await read_erasures(settings, anew=True)
    if known.seals is None:
        raise OperatorError("SAFEPASSAGE_KEYS_FILE is not set: see docs/how-to/erase.md")
    return known.seals


async def _write(
    settings: Settings, producer: AIOKafkaProducer, seals: Seals, nodes: Mapping[str, bytes]
) -> None:
    wrapped = {
        node_key(path).encode(): seals.masters.wrap(path, node).to_json()
        for path, node in nodes.items()
    }
    await send_values(producer, settings.topic(KEYS.name), wrapped)
