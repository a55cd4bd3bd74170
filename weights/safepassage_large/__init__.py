"""The weights of SafePassage's scorer ``large``. No code but the way to them."""

from pathlib import Path


def folder() -> Path:
    """The folder with ``scorer.json`` and the files that it names."""
    return Path(__file__).with_name("model")
