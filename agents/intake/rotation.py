"""Scans lie sideways, on their heads and askew: how a picture has to be turned to be read."""

import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from .limits import extra_module
from .page_words import Pixels, Rectangle

_LOOK_SIDE = 960  # pixels: enough to see lines, a quarter of the work of reading them
_TALL = 1.5  # a line that is so much higher than wide runs up or down the page
_LONG = 5.0  # widths of a line by its height, to tell its slope
_LEVEL = 0.25  # degrees; less harms nothing
_STEEPEST = 12.0
_SAMPLES = 6
_WHITE = 255


def direction(
    pixels: Pixels, lines: Callable[[Pixels], Sequence[Any]], confidence: Callable[[Pixels], float]
) -> tuple[int, float]:
    """By how many degrees clockwise (0, 90, 270) the picture has to be turned, and then by how
    many, in [-12, 12], it falls off to the right. ``lines`` finds the corners of lines,
    ``confidence`` tells how well one can be read."""
    step = max(1, math.ceil(max(pixels.shape[:2]) / _LOOK_SIDE))
    small = np.ascontiguousarray(pixels[::step, ::step]) if step > 1 else pixels
    found = [np.asarray(quad, dtype=float) for quad in lines(small)]
    if not found:
        return 0, 0.0
    tall = [quad for quad in found if np.ptp(quad[:, 1]) > _TALL * np.ptp(quad[:, 0])]
    if 2 * len(tall) <= len(found):
        return 0, _tilt(found)
    longest = sorted(tall, key=lambda quad: -float(np.ptp(quad[:, 1])))[:_SAMPLES]
    crops = [_crop(pixels, quad * step) for quad in longest]
    turn = max((90, 270), key=lambda turn: sum(confidence(_turned(crop, turn)) for crop in crops))
    height, width = small.shape[:2]
    return turn, _tilt([_turned_points(quad, width, height, turn) for quad in found])


def direction_over(
    pixels: Pixels, turn: int, tilt: float, confidence: Callable[[Pixels], float]
) -> int | None:
    """The opposite of ``turn``, where the middle of the page can be read better that way."""
    one, other = (levelled(pixels, t, tilt) for t in (turn, (turn + 180) % 360))
    rows = slice(one.shape[0] // 3, one.shape[0] * 2 // 3)
    bands = [_inked_rows(picture[rows]) for picture in (one, other)]
    scores = [sum(confidence(line) for line in band) for band in bands]
    return (turn + 180) % 360 if scores[1] > scores[0] else None


def levelled(pixels: Pixels, turn: int, tilt: float) -> Pixels:
    """The picture turned and, where it is askew, rotated about its middle."""
    upright = _turned(pixels, turn)
    if abs(tilt) < _LEVEL:
        return upright
    image = extra_module("PIL.Image", "files").fromarray(upright)
    level = image.rotate(tilt, resample=3, fillcolor=(_WHITE, _WHITE, _WHITE))
    return np.array(level)


def original(box: Rectangle, shape: tuple[int, ...], turn: int, tilt: float) -> Rectangle:
    """Where a box of the levelled picture is in the one of ``shape`` (height, width)."""
    height, width = shape
    side = (height, width) if turn in (90, 270) else (width, height)
    corners = np.array([(x, y) for x in (box.left, box.right) for y in (box.top, box.bottom)])
    if abs(tilt) >= _LEVEL:
        middle = np.array(side) / 2
        angle = math.radians(tilt)
        cosine, sine = math.cos(angle), math.sin(angle)
        corners = (corners - middle) @ np.array([[cosine, sine], [-sine, cosine]]) + middle
    corners = _turned_points(corners, *side, (360 - turn) % 360)
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    return Rectangle(float(left), float(top), float(right), float(bottom))


def _tilt(quads: Sequence[Any]) -> float:
    slopes = []
    for quad in quads:
        across, down = quad[1] - quad[0]
        if abs(across) > _LONG * np.linalg.norm(quad[3] - quad[0]):
            slopes.append(math.degrees(math.atan2(down, across) if across > 0 else 0.0))
    slope = median(slopes) if slopes else 0.0
    return slope if _LEVEL <= abs(slope) <= _STEEPEST else 0.0


def _turned(pixels: Pixels, turn: int) -> Pixels:
    return np.ascontiguousarray(np.rot90(pixels, -(turn // 90))) if turn else pixels


def _turned_points(points: Any, width: float, height: float, turn: int) -> Any:
    """Points of a picture of ``width`` and ``height`` once it is turned clockwise."""
    x, y = points[:, 0], points[:, 1]
    turned = {0: (x, y), 90: (height - y, x), 180: (width - x, height - y), 270: (y, width - x)}
    return np.stack(turned[turn], axis=1)


def _crop(pixels: Pixels, quad: Any) -> Pixels:
    (left, top), (right, bottom) = quad.min(axis=0).astype(int), quad.max(axis=0).astype(int)
    return np.ascontiguousarray(pixels[max(0, top) : bottom + 1, max(0, left) : right + 1])


def _inked_rows(picture: Pixels) -> list[Pixels]:
    """A few lines of text of a picture, cut out at the blank rows between them."""
    dark = picture.min(axis=2) < picture.mean() * 0.7
    inked = np.concatenate([[False], dark.any(axis=1), [False]])
    edges = np.flatnonzero(np.diff(inked.astype(int)))
    bands = [(top, bottom) for top, bottom in edges.reshape(-1, 2) if bottom - top > 8]
    return [np.ascontiguousarray(picture[max(0, t - 3) : b + 3]) for t, b in bands[:_SAMPLES]]
