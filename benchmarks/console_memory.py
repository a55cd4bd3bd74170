"""What the console holds while it reads its topics, and what a start from a kept index takes.

    python -m benchmarks.console_memory [VERDICTS]

The real index and desk, without Kafka and HTTP. Each verdict is a case of its own. Then another
process opens the file that was written, up to its first case.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.console import InstantPublisher, verdict
from safepassage.schemas import Verdict
from safepassage.streams.console.index.case_filter import CaseFilter
from safepassage.streams.console.index.index_file import Place
from safepassage.streams.console.index.measures import open_cases
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.review_desk import ReviewDesk
from safepassage.streams.console.session import Session
from safepassage.streams.settings import Settings

VERDICTS = 200_000
BATCH = 500
SHOWN = 8
SAMPLE = 0.02
READ_ON = "--read-on"


def read(total: int, file: Path | None) -> None:
    """Note ``total`` verdicts, and print the memory on the way."""
    model = verdict(7)
    own, text = model.id.encode(), model.to_json()
    store = CaseStore(SAMPLE, file)
    desk = ReviewDesk(store, InstantPublisher(), Settings())
    for first in range(0, total, BATCH):
        with store.batch():
            for number in range(first, first + BATCH):
                raw = text.replace(own, b"%032x" % number)
                raw = raw.replace(b'"extraction-7"', b'"extraction-%d"' % number)
                raw = raw.replace(b'"Value 7"', b'"Value %d"' % number)
                desk.note_verdict(Verdict.model_validate_json(raw), number)
            store.move_on(Place("quarantine", 0), first, first + BATCH - 1, first)
        noted = first + BATCH
        if first == 0 or noted % (total // SHOWN) == 0:
            report(f"{noted} verdicts read")
    store.close()


def read_on(file: Path) -> None:
    """Open what was kept, up to the first case."""
    before = time.perf_counter()
    store = CaseStore(SAMPLE, file)
    positions, waiting = store.positions(), open_cases(store)
    opened = time.perf_counter() - before
    desk = ReviewDesk(store, InstantPublisher(), Settings())
    case = asyncio.run(desk.next_case(Session("s", "Benchmark", 0), CaseFilter()))
    assert case
    assert positions
    shown = time.perf_counter() - before
    report(f"{waiting['queue']} open cases after {opened:.2f} s, the first after {shown:.2f} s")
    store.close()


def report(what: str) -> None:
    """One line with this process's peak memory and processor time."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:<60} {peak:6.0f} MiB {time.process_time():6.1f} s of CPU", flush=True)


def main(total: int) -> None:
    """A temporary index, one that is kept, and a start from that, each in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "console" / "index.sqlite"
        for arguments in ([str(total), ""], [str(total), str(file)], [READ_ON, str(file)]):
            before = time.perf_counter()
            command = [sys.executable, "-m", "benchmarks.console_memory", *arguments]
            subprocess.run(command, check=True)
            print(f"{time.perf_counter() - before:.1f} s in all\n", flush=True)
        print(f"{file.stat().st_size / 2**20:.0f} MiB on disk")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [option, name] if option == READ_ON:
            read_on(Path(name))
        case [number, name]:
            read(int(number), Path(name) if name else None)
        case [number]:
            main(int(number))
        case _:
            main(VERDICTS)
