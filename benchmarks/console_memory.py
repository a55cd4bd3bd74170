"""What the console holds while it reads its topics: resident memory by the number of verdicts.

    python benchmarks/console_memory.py [VERDICTS]

The real index and desk, without Kafka and HTTP. Each verdict is a case of its own.
"""

from __future__ import annotations

import resource
import sys
import time

from benchmarks.console import InstantPublisher, verdict
from safepassage.schemas import Verdict
from safepassage.streams.console.case_assignment import ReviewDesk
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.settings import Settings

VERDICTS = 200_000
BATCH = 500
SHOWN = 8


def main(total: int) -> None:
    """Note ``total`` verdicts, and print the memory on the way."""
    model = verdict(7)
    own, text = model.id.encode(), model.to_json()
    desk = ReviewDesk(CaseStore(0.02), InstantPublisher(), Settings())
    for first in range(0, total, BATCH):
        with desk.store.batch():
            for number in range(first, first + BATCH):
                raw = text.replace(own, b"%032x" % number)
                raw = raw.replace(b'"extraction-7"', b'"extraction-%d"' % number)
                raw = raw.replace(b'"Value 7"', b'"Value %d"' % number)
                desk.note_verdict(Verdict.model_validate_json(raw), number)
        noted = first + BATCH
        if first == 0 or noted % (total // SHOWN) == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{noted:>9} verdicts {peak:6.0f} MiB {time.process_time():6.0f} s of CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else VERDICTS)
