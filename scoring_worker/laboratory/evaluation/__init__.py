"""Evaluation: how well a scorer finds unsupported facts, on labelled data of several kinds.

::

    file ─▶ rows ─▶ cases (aligned as in the pipeline) ─▶ scorer ─▶ outcomes ─▶ figures, plots

`safepassage.scoring_worker.laboratory.experiments` holds the paper's experiments.
"""

from .cases import Dataset, LabelledCase, Lost
from .datasets import read_dataset
from .judgement import Evaluation, JudgedCase, evaluate
from .metrics import Counted, Metrics, measure
from .results import EvaluationReport, EvaluationResult, result_of
from .sources import DatasetError, Sources, read_documents

__all__ = [
    "Counted",
    "Dataset",
    "DatasetError",
    "Evaluation",
    "EvaluationReport",
    "EvaluationResult",
    "JudgedCase",
    "LabelledCase",
    "Lost",
    "Metrics",
    "Sources",
    "evaluate",
    "measure",
    "read_dataset",
    "read_documents",
    "result_of",
]
