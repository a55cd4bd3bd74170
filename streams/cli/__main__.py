"""``python -m safepassage.streams.cli``: how one process of the stack starts another."""

from . import main

main()
