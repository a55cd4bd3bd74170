"""What can be promised of accepted values: bounds, thresholds that keep them, draws behind them."""

from .bounds import clopper_pearson, labels_needed, least_share_to_people
from .certificate import CertifiedThreshold, Shortfall, Stratum, certified_threshold, certify
from .draws import FLOOR, PREFERRED, Draw, draw, teaching_value

__all__ = [
    "FLOOR",
    "PREFERRED",
    "CertifiedThreshold",
    "Draw",
    "Shortfall",
    "Stratum",
    "certified_threshold",
    "certify",
    "clopper_pearson",
    "draw",
    "labels_needed",
    "least_share_to_people",
    "teaching_value",
]
