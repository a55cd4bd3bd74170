"""Reading pictures of text: RapidOCR with the PP-OCR weights that its wheel holds."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from safepassage.schemas import PageSize

from .ink_boxes import Line, fitted
from .limits import Limits, Refused, extra_module, ocr_is_installed
from .page_words import Group, Pixels, Rectangle, Word
from .pdf_characters import as_groups
from .rotation import direction, direction_over, levelled, original

_POOR = 0.8  # mean confidence; below, the page may be on its head
_COVERED = 0.3  # of a read word that lies inside known text: it is that text


class Reader:
    """The OCR of one file, within its limits; the model is loaded on first need."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._pages = 0

    @cached_property
    def may_compare(self) -> bool:
        """Whether pages with text of their own are read as well, to compare."""
        return self.limits.ocr != "never" and ocr_is_installed()

    def read(self, pixels: Pixels, size: PageSize, name: str) -> Group:
        """The words in ``pixels``, RGB of shape (height, width, 3), which show a page of ``size``.
        Raises `Refused` where OCR is off, not installed, or was needed too often."""
        if self.limits.ocr == "never":
            raise Refused(f"{name} is a picture of text, and SAFEPASSAGE_OCR is `never`")
        self._pages += 1
        if self._pages > self.limits.ocr_pages:
            raise Refused(f"more than {self.limits.ocr_pages} pages need OCR")
        group = _read_upright(pixels)
        ratio = size.width / pixels.shape[1]
        words = [
            replace(w, box=_scaled(w.box, ratio), upright=w.upright and _scaled(w.upright, ratio))
            for w in group.words
        ]
        return Group(tuple(words), group.turn)


def beside(words: Sequence[Word], read: Group) -> tuple[Group, ...]:
    """The file's own words, and those read that are where it has none. They are read as one
    where they run in one direction."""
    own = [word.box for word in words]
    fresh = [w for w in read.words if sum(w.box.share_inside(box) for box in own) < _COVERED]
    return as_groups([*words, *(replace(word, turn=read.turn) for word in fresh)])


def _read_upright(pixels: Pixels) -> Group:
    """The words as they are in ``pixels``, read with the page turned and levelled."""
    turn, tilt = direction(pixels, _boxes, _confidence)
    words = _recognised(levelled(pixels, turn, tilt))
    if _mean(words) < _POOR and (turn_over := direction_over(pixels, turn, tilt, _confidence)):
        turn = turn_over
        words = _recognised(levelled(pixels, turn, tilt))
    places = [original(word.box, pixels.shape[:2], turn, tilt) for word in words]
    found = [
        Word(word.text, place, word.confidence, word.box)
        for word, place in zip(words, places, strict=True)
    ]
    return Group(tuple(found), turn)


def _recognised(pixels: Pixels) -> list[Word]:
    found = _engine()(pixels, use_det=True, use_cls=False, use_rec=True, return_word_box=True)
    if found.boxes is None or not len(found.boxes):
        return []
    grey = pixels.mean(axis=2)
    words: list[Word] = []
    for quad, parts in zip(found.boxes, found.word_results, strict=True):
        read = [Word(text, _around(at), float(sure)) for text, sure, at in parts if text.strip()]
        words += fitted(Line(_around(quad), read), grey)
    return words


def _boxes(pixels: Pixels) -> list[Any]:
    """The corners of each line, (4, 2), as far as the detector sees lines."""
    found = _engine()(pixels, use_det=True, use_cls=False, use_rec=False)
    return [] if found.boxes is None else list(found.boxes)


def _confidence(line: Pixels) -> float:
    found = _engine()(line, use_det=False, use_cls=False, use_rec=True)
    return float(np.mean(found.scores)) if found.scores is not None and len(found.scores) else 0.0


def _mean(words: Sequence[Word]) -> float:
    signs = sum(len(word.text) for word in words)
    sure = sum(len(word.text) * (word.confidence or 0.0) for word in words)
    return sure / signs if signs else 0.0


def _around(quad: Any) -> Rectangle:
    xs, ys = [float(x) for x, _ in quad], [float(y) for _, y in quad]
    return Rectangle(min(xs), min(ys), max(xs), max(ys))


def _scaled(box: Rectangle, ratio: float) -> Rectangle:
    return Rectangle(*(edge * ratio for edge in box))


_loaded: list[Any] = []


def _engine() -> Any:
    """One for the process: loading takes a second."""
    if not _loaded:
        extra_module("onnxruntime", "ocr")
        rapidocr = extra_module("rapidocr", "ocr")
        threads = int(os.environ.get("OMP_NUM_THREADS") or -1)
        parameters = {
            "Global.use_cls": False,
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
        _loaded.append(rapidocr.RapidOCR(params=parameters))
    return _loaded[0]
