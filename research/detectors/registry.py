"""The detectors of a clone: those that are installed, and the papers' others.

Names that begin with ``reader_`` are the reader that ships, asked as a paper's method asks its own
model.
"""

from pathlib import Path

from safepassage.scoring_worker.detectors import registry as installed
from safepassage.scoring_worker.detectors.contract import Detector, DetectorSettings


def declarations() -> installed.Declarations:
    """Every detector by name, installed ones first."""
    known = installed.declarations()
    own = installed.declared_in(Path(__file__).with_name("registry.json"), "research.detectors")
    known.detectors.update({one.name: one for one in own})
    return known


def load_detector(name: str, settings: DetectorSettings | None = None) -> Detector:
    """The detector of that name.

    Raises:
        UnknownDetector: nothing has that name.
        ModelError: what it needs is not there; the message says what.
    """
    return installed.load_detector(name, settings, among=declarations())
