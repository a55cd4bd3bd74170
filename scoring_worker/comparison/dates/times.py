"""Times of day: 14:30, 2.30 pm, 14h30, 14 Uhr, 14.30 Uhr, 14時30分, 오후 2시 30분, T14:30:00Z."""

import re
from collections.abc import Iterable

from .partial_date import Time

_HALVES = r"[ap]\.?\s?m\b\.?|μ\.?μ\.?|π\.?μ\.?|noon|o'clock|uhr\b|h\b|hrs\b|Uhr\b"
_ZONE = r"Z\b|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d\d)?)?|[+\-−]\d\d:?\d\d(?!\d)"
_TIME = re.compile(
    r"(?<![\d:.,])(?P<before>上午|下午|午前|午後|오전|오후|kl\.?\s|klo\s)?\s?"
    r"(?P<h>\d{1,2})"
    rf"(?:(?P<sep>[:h.]|\s?[時时시點点]\s?)(?P<m>\d\d)(?:[분分])?(?:[:.](?P<s>\d\d)(?:[.,]\d{{1,9}})?)?)?"
    rf"(?P<half>\s?(?:{_HALVES}|[時时시點点]))?(?P<zone>\s?(?:{_ZONE}))?(?![\d])",
    re.IGNORECASE,
)
_EVENING = ("下午", "午後", "오후")
_MORNING = ("上午", "午前", "오전")


def times_in(text: str) -> list[Time]:
    """Every time of day that ``text`` states as one; 2.30 alone is a decimal."""
    return [time for match in _TIME.finditer(text) if (time := _time(match)) is not None]


def _time(match: re.Match[str]) -> Time | None:
    half = "".join(char for char in (match["half"] or "").casefold() if char.isalpha())
    before = (match["before"] or "").strip()
    clear = (match["sep"] or "").strip() in (":", "h", "H", *"時时시點点")
    if not (half or before or clear):
        return None
    hour, minute = int(match["h"]), int(match["m"] or 0)
    second = int(match["s"]) if match["s"] else None
    if hour > 24 or minute > 59 or (second or 0) > 59:
        return None
    evening = half in ("pm", "μμ") or before in _EVENING
    halved = evening or half in ("am", "πμ") or before in _MORNING
    if halved:
        hour = hour % 12 + (12 if evening else 0)
    twelve = not halved and 1 <= hour <= 12 and not match["h"].startswith("0")
    return Time(hour % 24, minute, second, offset_of(match["zone"]), twelve and half != "uhr")


def offset_of(zone: str | None) -> int | None:
    """Minutes east of UTC that a written zone says ("Z", "UTC+2", "-05:30"); None without one."""
    if not zone:
        return None
    signs = re.search(r"([+\-−])(\d{1,2}):?(\d\d)?", zone)
    if signs is None:
        return 0
    minutes = int(signs[2]) * 60 + int(signs[3] or 0)
    return minutes if signs[1] == "+" else -minutes


def same_time(value: Time, stated: Iterable[Time]) -> bool | None:
    """Whether one of ``stated`` is the value's time; None where the zones or the halves of the day
    leave it open."""
    open_ = False
    for time in stated:
        seconds = value.second or 0, time.second or 0
        if time.second is None or value.second is None:
            seconds = 0, 0
        minutes = _minutes(value, time.offset) - _minutes(time, value.offset)
        if minutes % 1440 == 0 and seconds[0] == seconds[1]:
            return True
        if value.twelve and not time.twelve and minutes % 720 == 0:
            return True  # the value says less: 1:45 of "1:45 PM"
        halves = time.twelve and minutes % 720 == 0
        zones = (value.offset is None) != (time.offset is None)
        open_ = open_ or halves or zones
    return None if open_ else False


def _minutes(time: Time, other_offset: int | None) -> int:
    shift = time.offset if time.offset is not None and other_offset is not None else 0
    return time.hour * 60 + (time.minute or 0) - shift
