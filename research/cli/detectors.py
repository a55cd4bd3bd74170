"""``detectors``: what there is in a clone."""

from research.detectors.registry import declarations
from safepassage.streams.cli.promote import show_detectors


def detectors() -> None:
    """Show the detectors of a clone: what each needs, judges and costs."""
    show_detectors(declarations())
