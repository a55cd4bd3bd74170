"""Fixtures that several rooms share."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings as hypothesis_settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: several tests run at once
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="safepassage-tests-")  # not the user's

from safepassage.streams.settings import Settings

from .stack import Stack, running_stack

# No test asserts on time, and a deadline does: three processes at once are slow by chance.
hypothesis_settings.register_profile("unhurried", deadline=None)
hypothesis_settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests() -> Iterator[None]:
    """What the tests keep in the cache goes with them."""
    yield
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


@pytest.fixture
def stack() -> Iterator[Stack]:
    """A broker and a Redis of this test alone. They start in 25 ms of processor time; on a shared
    broker, whose every topic each client asks for, a read took 4 s after sixty tests."""
    with running_stack() as running:
        yield running


@pytest.fixture
def kafka(stack: Stack) -> Settings:
    """Settings for the servers, with topics of this test alone: real ones are shared."""
    return stack.settings()


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """A command configures logging for its process, which here is that of all tests."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    before = structlog.get_config()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**before)
    structlog.contextvars.clear_contextvars()
