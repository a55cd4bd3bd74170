"""Numbers in words by CLDR's own rules, in some eighty languages."""

import re
from functools import cache, lru_cache

from unicode_rbnf import RbnfEngine
from unicode_rbnf.engine import NoRuleForNumberError

CARDINAL = "spellout-(?:numbering|cardinal)"
COUNT = "spellout-(?:numbering(?!-year)|cardinal)(?!.*verbose)"
"""A cardinal neither as a year is spoken nor with words that may be left out."""
ORDINAL = "spellout-ordinal"
YEAR = "spellout-numbering-year"
_KEPT_PARTS = 10_000


@cache
def spelling_languages() -> frozenset[str]:
    """Codes of the languages with rules."""
    return frozenset(RbnfEngine.get_supported_languages())


def spellings(language: str, number: int, kind: str) -> list[str]:
    """``number`` in words in every gender and case that ``language``, one of those with rules, has
    for a ``kind`` (`CARDINAL`, `COUNT`, `ORDINAL`, `YEAR`); none where it has no such rule."""
    rules = _rules(language, kind)
    try:
        texts = _engine(language).format_number(number, ruleset_names=rules).text_by_ruleset
    except (NoRuleForNumberError, ValueError, KeyError):  # of this kind, or for so large a number
        return []
    return [text for text in texts.values() if not any(map(str.isdecimal, text))]


@cache
def _engine(language: str) -> RbnfEngine:
    engine = RbnfEngine.for_language(language)
    spell = engine.iter_format_number

    @lru_cache(maxsize=_KEPT_PARTS)
    def spelt_once(number: int, ruleset_name: str, tolerance: float) -> tuple[str, ...]:
        return tuple(spell(number, ruleset_name, tolerance=tolerance))

    # The rules call it for each part: "sixty-one" is spelt for 61, 161, 261 and so on.
    engine.iter_format_number = spelt_once  # type: ignore[method-assign]
    return engine


@cache
def _rules(language: str, kind: str) -> list[str]:
    return [
        name
        for name, rules in _engine(language).rulesets.items()
        if re.match(kind, name) and not rules.is_private
    ]
