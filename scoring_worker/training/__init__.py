"""Training: silver labels, then gold ones, then a scorer that says what it rests on."""

from .encoder import EncoderSettings, TrainedEncoder, train_encoder
from .recipe import Recipe, TrainingLabels, train

__all__ = [
    "EncoderSettings",
    "Recipe",
    "TrainedEncoder",
    "TrainingLabels",
    "train",
    "train_encoder",
]
