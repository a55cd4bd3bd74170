"""Loads RAGulator's detector: the forest that ships, or one of one's own."""

from collections.abc import Mapping
from pathlib import Path

from safepassage.scoring_worker.detectors.contract import DetectorSettings
from safepassage.scoring_worker.detectors.grounding import named_scorer
from safepassage.scoring_worker.forest import Forest, MeasureUsed
from safepassage.scoring_worker.manifest import ModelError

from .features import EXTENDED
from .measurement import WORDS, ClaimMeasure
from .meta_classifiers import SHIPPED, MetaClassifier
from .word_vectors import word_vectors


def load_ragulator(settings: DetectorSettings) -> MetaClassifier:
    """The forest that ships, or the one in the file ``settings.model``.

    A forest is served with what it was trained on: its file names the word vectors and the scorer.
    The one that ships learnt from the small reader, which is always there. Raises `ModelError`
    where the forest or what it needs cannot be read, or is not what it was trained on."""
    path = SHIPPED if settings.model is None else Path(settings.model)
    forest = read_forest(path, settings)
    similarity, relevance = (forest.measures[one].name for one in ("similarity", "relevance"))
    if similarity != WORDS or relevance.startswith("reranker "):
        raise ModelError(
            f"{path} was trained with an encoder or a reranker of its own: it is served in a clone "
            "only, by `python -m research`"
        )
    scorer = named_scorer(settings, relevance)
    measure = ClaimMeasure(word_vectors(), scorer)
    check_measures(path, forest.measures, measure)
    return MetaClassifier("ragulator", forest, measure)


def read_forest(path: Path, settings: DetectorSettings) -> Forest:
    """The forest in a file. Raises `ModelError` where it cannot be read, asks for features that
    nobody measures, does not say what they were measured with, or learnt from another relevance
    than ``settings`` ask for."""
    forest = Forest.load(path)
    if unknown := set(forest.features) - set(EXTENDED):
        raise ModelError(f"{path}: unknown features {sorted(unknown)}")
    if {"similarity", "relevance"} - forest.measures.keys():
        raise ModelError(
            f"{path} does not say what its features were measured with; train it again with "
            "`python -m research ragulator train` in a clone"
        )
    relevance = forest.measures["relevance"].name
    if settings.scorer not in ("default", relevance):
        raise ModelError(
            f"{path} was trained with the relevance of {relevance}, not with that of "
            f"{settings.scorer}; train a forest of your own with `python -m research ragulator "
            "train` in a clone"
        )
    return forest


def check_measures(path: Path, trained: Mapping[str, MeasureUsed], measure: ClaimMeasure) -> None:
    """Closes ``measure`` and raises where a forest learnt from other measures. Raises `ModelError`
    where it did."""
    for feature, one in trained.items():
        if measure.measures.get(feature) != one:
            measure.close()
            raise ModelError(
                f"{path} was trained with another {feature}: {one.name}, revision "
                f"{one.revision}; train it again, or install what it was trained with"
            )
