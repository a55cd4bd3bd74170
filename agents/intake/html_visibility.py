"""How an element looks, as far as it decides whether its text can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .css_rules import CLIPPED_SIZES, EDGES, Values
from .css_values import BLACK, MEDIUM, WHITE, Colour, arguments, colour, percent, pixels, word

Style = Mapping[str, Values]
"""The values in force for one element, by property."""

_SMALLEST = 2.5 * 4 / 3  # CSS pixels: 2.5 points, as on the pages of a PDF
_CONTRAST = 32 / 255  # as on the pages of a PDF
_FONT_SIZES = {
    **{"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": MEDIUM, "large": 18.0},
    **{"x-large": 24.0, "xx-large": 32.0, "xxx-large": 48.0},
}
_FONT_SCALES = {"smaller": 1 / 1.2, "larger": 1.2}
_FAR = {
    **dict.fromkeys(EDGES, 100.0),
    "margin-top": 500.0,  # cards that overlap a picture are moved up by less
}
"""CSS pixels; what is moved further in the negative lies beside the page."""
_CLIPPING = ("hidden", "clip", "auto", "scroll")
_LEAST_SIZE = 1.0  # CSS pixels; a box for screen readers alone has one


class Look(NamedTuple):
    """What an element's text takes from its ancestors and itself. ``font`` and ``root`` are in
    CSS pixels, of it and of the page; a colour that cannot be told is None; ``opacity`` is in
    [0, 1], that of all boxes around together."""

    font: float = MEDIUM
    root: float = MEDIUM
    visible: bool = True
    colour: Colour | None = BLACK
    ground: Colour | None = WHITE
    opacity: float = 1.0

    def inside(self, style: Style) -> Look:
        """The look of a child with this style."""
        if not style:
            return self
        visibility = word(style.get("visibility", []))
        return self._replace(
            font=self._font(style.get("font-size", [])),
            visible=self.visible if visibility in ("", "inherit") else visibility == "visible",
            colour=self._colour(style.get("color", [])),
            ground=self._ground(style),
            opacity=self.opacity * _opacity(style.get("opacity", [])),
        )

    @property
    def is_legible(self) -> bool:
        """Whether a person sees text that looks so."""
        return self.visible and self.font >= _SMALLEST and self._contrast() >= _CONTRAST

    def hides_box(self, style: Style) -> bool:
        """Whether a child with this style is not seen, with all that is in it."""
        return bool(style) and (
            word(style.get("display", [])) == "none"
            or word(style.get("content-visibility", [])) == "hidden"
            or word(style.get("mso-hide", [])) == "all"
            or any(self._is_far(style, name, limit) for name, limit in _FAR.items())
            or self._is_clipped(style)
        )

    def _contrast(self) -> float:
        if self.colour is None:
            return self.opacity
        if self.ground is None:
            return self.opacity * self.colour.alpha
        return self.opacity * self.colour.contrast(self.ground)

    def _font(self, values: Values) -> float:
        sizes = map(self._font_size, values)  # the first; a line's height may follow it
        return next((size for size in sizes if size is not None), self.font)

    def _font_size(self, token: Any) -> float | None:
        name = word([token])
        if name in _FONT_SIZES:
            return _FONT_SIZES[name]
        if name in _FONT_SCALES:
            return self.font * _FONT_SCALES[name]
        if (inner := arguments(token, "calc", "clamp", "max", "min")) is not None:
            sizes = [size for one in inner if (size := self._font_size(one)) is not None]
            return max(sizes, default=None)
        share = percent(token)
        return self._pixels(token) if share is None else self.font * share / 100

    def _pixels(self, token: Any) -> float | None:
        return pixels(token, self.font, self.root)

    def _colour(self, values: Values) -> Colour | None:
        if not values or word(values) in ("inherit", "unset", "currentcolor"):
            return self.colour
        return BLACK if word(values) in ("initial", "revert") else colour(values[0])

    def _ground(self, style: Style) -> Colour | None:
        if any(map(_is_picture, style.get("background-image", []))):
            return None
        for token in style.get("background-color", []):
            if found := colour(token):
                if found.alpha == 1:
                    return found
                return found.on(self.ground) if self.ground else None
            if token.type == "function":
                return None
        return self.ground

    def _is_far(self, style: Style, name: str, limit: float) -> bool:
        values = style.get(name)
        if not values:
            return False
        if (share := percent(values[0])) is not None:
            return share <= -100
        # `left: 50%; margin-left: -200px` is how a box is centred.
        edge = style.get(name.removeprefix("margin-"), []) if name.startswith("margin-") else []
        is_centred = any((percent(token) or 0) > 0 for token in edge)
        return not is_centred and (self._pixels(values[0]) or 0) <= -limit

    def _is_clipped(self, style: Style) -> bool:
        if any(word([one]) in _CLIPPING for one in style.get("overflow", [])):
            sizes = [self._pixels(style[name][0]) for name in CLIPPED_SIZES if name in style]
            if any(size is not None and size <= _LEAST_SIZE for size in sizes):
                return True
        shapes = (*style.get("clip", []), *style.get("clip-path", []))
        return any(map(self._leaves_nothing, shapes))

    def _leaves_nothing(self, shape: Any) -> bool:
        if (sides := arguments(shape, "rect")) is not None and len(sides) == 4:
            top, right, bottom, left = map(self._pixels, sides)
            return _is_thin(top, bottom) or _is_thin(left, right)
        if inset := arguments(shape, "inset"):
            shares = [percent(token) or 0 for token in inset[:4]]
            top, right, bottom = (shares * 3)[:3]
            left = shares[3] if len(shares) == 4 else right
            return top + bottom >= 100 or left + right >= 100
        radii = arguments(shape, "circle", "ellipse") or ()
        return any(self._pixels(radius) == 0 for radius in radii[:1])


def _is_thin(start: float | None, end: float | None) -> bool:
    return start is not None and end is not None and end - start <= _LEAST_SIZE


def _is_picture(token: Any) -> bool:
    return token.type == "url" or (token.type == "function" and colour(token) is None)


def _opacity(values: Values) -> float:
    if not values or values[0].type not in ("number", "percentage"):
        return 1.0
    scale = 100 if values[0].type == "percentage" else 1
    return min(max(float(values[0].value) / scale, 0.0), 1.0)
