"""``python -m safepassage``: the command line, where the script of that name is not on the path."""

from safepassage.streams.cli import main

main()
