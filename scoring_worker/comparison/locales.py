"""CLDR's data of a language, which babel brings."""

from functools import lru_cache

from babel import Locale, UnknownLocaleError


@lru_cache(maxsize=512)
def locale_of(language: str | None) -> Locale | None:
    """The locale of an ISO 639-1 code, which a territory may follow; None for an unknown one."""
    try:
        return Locale.parse(language.replace("-", "_")) if language else None
    except (UnknownLocaleError, ValueError):
        return None


def number_symbol(language: str | None, name: str) -> str:
    """The sign called ``name`` ("decimal", "group") of a language's numbers; "" where unknown."""
    locale = locale_of(language)
    return str(locale.number_symbols.get("latn", {}).get(name, "")) if locale else ""
