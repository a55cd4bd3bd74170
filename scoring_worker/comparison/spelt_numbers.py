"""Numbers in words by CLDR's own rules, in some eighty languages."""

import re
from functools import cache

from unicode_rbnf import RbnfEngine
from unicode_rbnf.engine import NoRuleForNumberError

CARDINAL = "spellout-(?:numbering|cardinal)"
COUNT = "spellout-(?:numbering(?!-year)|cardinal)(?!.*verbose)"
"""A cardinal neither as a year is spoken nor with words that may be left out."""
ORDINAL = "spellout-ordinal"
YEAR = "spellout-numbering-year"


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
    return RbnfEngine.for_language(language)


@cache
def _rules(language: str, kind: str) -> list[str]:
    return [
        name
        for name, rules in _engine(language).rulesets.items()
        if re.match(kind, name) and not rules.is_private
    ]
