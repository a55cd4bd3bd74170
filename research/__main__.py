"""``python -m research``."""

from research.cli import app
from safepassage.streams.cli import main

main(app)
