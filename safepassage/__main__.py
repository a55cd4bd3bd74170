"""The command line: ``safepassage``, or ``python -m safepassage``."""

import sys


def main() -> None:
    """Run it. Ctrl-C while it is still being loaded ends it without a word, as later."""
    try:
        from safepassage.streams.cli import main as run  # noqa: PLC0415 - takes a second
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
