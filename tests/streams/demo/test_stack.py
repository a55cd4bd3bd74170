"""What ends by itself is told in words."""

from __future__ import annotations

import time
from pathlib import Path

from safepassage.streams.demo import corpus, stack
from safepassage.streams.demo.embedded import LOOPBACK, free_port, start_broker, stop_process
from safepassage.streams.demo.stack import ChildFailed, Processes

PATIENCE_SECONDS = 60


def failure(processes: Processes) -> str:
    for _ in range(PATIENCE_SECONDS * 10):
        try:
            processes.check()
        except ChildFailed as told:
            return str(told)
        time.sleep(0.1)
    raise AssertionError("nothing was told")


def test_a_role_that_ends_is_told_in_its_words_and_not_in_log_lines(tmp_path: Path) -> None:
    nowhere = f"{LOOPBACK}:{free_port()}"
    variables = {"KAFKA_BOOTSTRAP_SERVERS": nowhere, "SAFEPASSAGE_LOG_FORMAT": "json"}
    with Processes(variables, tmp_path) as processes:
        processes.start("score", "worker", "score")
        told = failure(processes)
    assert told.startswith("the score process ended with code 1: ")
    assert "is KAFKA_BOOTSTRAP_SERVERS right?" in told
    assert '"event"' not in told


def test_a_process_that_is_killed_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    with Processes({}, tmp_path) as processes:
        recorded = ("-d", str(corpus.DOCUMENTS), "-e", str(corpus.EXTRACTIONS))
        processes.start("llm", "recorded-llm", *recorded, "--port", str(free_port()))
        processes._running["llm"].kill()
        (tmp_path / "llm.log").write_text("the last line")
        told = failure(processes)
    assert "by signal 9 (SIGKILL, perhaps for lack of memory): the last line" in told


def test_the_end_of_the_broker_is_told_before_what_it_does_to_the_roles(tmp_path: Path) -> None:
    broker = start_broker(f"{LOOPBACK}:{free_port()}")
    try:
        with Processes({}, tmp_path, broker) as processes:
            processes.check()
            broker.kill()
            told = failure(processes)
    finally:
        stop_process(broker)
    assert told.startswith("the embedded broker ended by signal 9")
    assert "submit the documents again" in told


def test_the_logs_of_the_last_run_stay_and_those_before_go(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(stack, "LAST_LOGS", tmp_path / "last")
    for said in ("first", "second"):
        with stack._logs() as folder:
            (folder / f"{said}.log").write_text(said)
        assert not folder.exists()
    assert [log.name for log in (tmp_path / "last").iterdir()] == ["second.log"]
