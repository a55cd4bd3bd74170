"""Dates of Chinese, Japanese and Korean: 2012年1月17日, 二〇一二年一月十七日, 2012년 1월 17일."""

import re
from collections.abc import Iterator

from .partial_date import Certainty, PartialDate, Parts, exists

_HAN = {c: n for n, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "○": 0, "元": 1, "正": 1}
_DIGITS = "〇零○一二三四五六七八九"
_SMALL = rf"(?:\d{{1,2}}|[{_DIGITS}十廿卅正]{{1,4}})"
_ERA = "令和|平成|昭和|大正|明治|慶応|民國|民国|康熙|乾隆|단기|檀紀|佛曆|佛历"
_DATE = re.compile(
    rf"(?P<era>(?:{_ERA})\s?)?(?<!\d)(?:(?P<y>\d{{1,4}}|[{_DIGITS}]{{4}}|[{_DIGITS}十元]{{1,3}})\s?[年년]\s?"
    rf"(?:(?P<m>{_SMALL})\s?[月월](?:\s?(?P<d>{_SMALL})\s?[日号號일])?)?"
    rf"|(?P<m2>{_SMALL})\s?[月월](?:\s?(?P<d2>{_SMALL})\s?[日号號일])?)"
    rf"(?:\s?[-~〜～–—至到부터까지から]{{1,2}}\s?(?P<until>\d{{1,2}})\s?[日号號일])?"
    r"(?P<vague>\s?(?:末|初|頃|左右|前後|前后|上旬|中旬|下旬|半ば|中頃|말|초|경|중순|하순|상순))?"
)
_NOT_DATE = ("間", "间", "前", "後", "后", "以", "간", "전", "후", "동안")
"""After a count of years: 10年間 is a duration, 3年前 is relative."""


def ideographic_dates(text: str) -> Iterator[PartialDate]:
    """Every date whose parts are marked by 年, 月, 日 or 년, 월, 일."""
    for match in _DATE.finditer(text):
        year = _number(match["y"])
        month, day = _number(match["m"] or match["m2"]), _number(match["d"] or match["d2"])
        if text.startswith(_NOT_DATE, match.end()) and day is None:
            continue
        certainty: Certainty = "stated"
        if match["era"]:
            year, certainty = None, "other_calendar"
        elif year is not None and year < 1000:
            if month is None or len(match["y"]) != 2:
                continue
        elif match["vague"]:
            certainty = "part"
        parts = Parts(year, month, day)
        if exists(parts) and (certainty == "other_calendar" or parts != (None, None, None)):
            yield PartialDate(*parts, match.start(), match.end(), certainty=certainty)
            yield from _until(match, parts)


def _until(match: re.Match[str], parts: Parts) -> Iterator[PartialDate]:
    last = _number(match["until"])
    if last is not None and parts.day is not None and exists(Parts(parts.year, parts.month, last)):
        yield PartialDate(parts.year, parts.month, last, *match.span("until"))


def _number(written: str | None) -> int | None:
    """十七 is 17, 二〇一二 is 2012."""
    if written is None:
        return None
    if written.isdecimal():
        return int(written)
    written = written.replace("廿", "二十").replace("卅", "三十")
    if "十" in written:
        tens, _, units = written.partition("十")
        return _HAN.get(tens, 1) * 10 + _HAN.get(units, 0)
    return int("".join(str(_HAN.get(c, 0)) for c in written))
