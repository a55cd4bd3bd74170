"""Thirty-two mixed files by one command: every verdict's boxes cover its evidence on the page."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("pypdfium2", reason="needs the extra `files`")
pytest.importorskip("reportlab", reason="needs reportlab")
FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("files_benchmark", FOLDER / "files.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(FOLDER))


def test_overlap_is_that_of_areas(benchmark: ModuleType) -> None:
    assert benchmark.iou([(0, 0, 0.5, 0.5)], [(0, 0, 0.5, 0.5)]) == 1
    assert benchmark.iou([(0, 0, 0.5, 0.5)], [(0, 0, 0.25, 0.5)]) == pytest.approx(0.5)
    assert benchmark.iou([(0, 0, 0.5, 0.5)], [(0.5, 0.5, 1, 1)]) == 0
    halves = [(0, 0, 0.25, 0.5), (0.25, 0, 0.5, 0.5)]
    assert benchmark.iou([(0, 0, 0.5, 0.5)], halves) == 1


@pytest.mark.long
@pytest.mark.parametrize("stream", [False, True], ids=["check", "submit"])
def test_boxes_cover_the_evidence_of_nearly_every_verdict(
    benchmark: ModuleType, tmp_path: Path, stream: bool
) -> None:
    pytest.importorskip("rapidocr", reason="needs the extra `ocr`")
    figures = benchmark.measure(tmp_path, stream=stream)
    assert figures["files"] >= 30
    assert figures["verdicts"] == figures["found"] > 100
    assert figures["share"] >= 0.95, figures["below"]
