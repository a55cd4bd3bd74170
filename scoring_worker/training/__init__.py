"""Training of scorers: from labels to a model directory with its card."""

from .recipe import Recipe, TrainingLabels, train
from .stacking import StackSettings
from .tuning import TuningSettings

__all__ = ["Recipe", "StackSettings", "TrainingLabels", "TuningSettings", "train"]
