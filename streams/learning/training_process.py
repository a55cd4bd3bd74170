"""``python -m safepassage.streams.learning.training_process FOLDER``: carries out one task."""

import os
import signal
import sys
from pathlib import Path

from ..runtime.logs import configure_logging
from ..settings import settings
from .task import carry_out

NICENESS = 19


def main() -> None:
    """Ends by SIGTERM at once: what was learnt up to the last checkpoint is kept."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(NICENESS)
    configure_logging(settings(), run="learn")
    carry_out(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
