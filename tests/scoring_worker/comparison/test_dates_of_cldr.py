"""What is read of CLDR is what babel says of one locale by itself, whichever were read before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from babel import Locale, localedata

from safepassage.scoring_worker.comparison.dates.cldr import PATH, known_languages, written_in
from tools import cldr_dates as cldr


def plain(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """With every alias followed."""
    return {key: plain(one) if isinstance(one, Mapping) else one for key, one in data.items()}


@pytest.fixture
def babel_alone():
    """babel notes in what locales share where an alias of one of them led: the next one with this
    alias then has the first one's names. So each is asked in a process that knows no other."""
    known = dict(localedata._cache)
    yield localedata._cache
    localedata._cache.clear()
    localedata._cache.update(known)


@pytest.mark.parametrize("first", ["eu", "ja"])
def test_a_locale_has_its_own_names_whichever_was_read_before(babel_alone, first: str):
    cldr._dates_of.cache_clear()
    cldr._locale(first)
    for identifier in ("en", "en_AU", "es_MX", "az_Cyrl", "sr_Latn_BA", "zh_Hant_HK", "dyo", "vo"):
        babel_alone.clear()
        locale, read = Locale.parse(identifier), cldr._locale(identifier)
        assert plain(read["months"]) == plain(locale.months), identifier
        assert plain(read["days"]) == plain(locale.days), identifier
        assert plain(read["eras"]) == plain(locale.eras), identifier
        for name in ("date_formats", "datetime_skeletons"):
            said = {key: str(one) for key, one in read[name].items()}
            assert said == {key: str(one) for key, one in getattr(locale, name).items()}


def test_a_locale_that_says_nothing_of_dates_itself_is_its_parent(babel_alone):
    for language in ("en", "es", "pt", "sr", "zh"):
        for identifier in cldr._identifiers()[language]:
            babel_alone.clear()
            parent = cldr._parent(identifier)
            if not cldr._own(identifier) and parent != "root":
                told = plain(Locale.parse(identifier).months)
                babel_alone.clear()
                assert told == plain(Locale.parse(parent).months), identifier


def test_languages_keep_to_their_own_names():
    for code in ("ja", "eu", "de", "af"):
        cldr.read_language(code)
    assert "tue" not in cldr.read_language("de").weekdays
    assert not any("月" in word for words in cldr.read_language("eu").names for word in words)


def test_the_file_is_what_cldr_has():
    """Else run `python -m tools.cldr_dates`."""
    assert PATH.read_text("utf-8") == cldr.text()


def test_the_file_is_read_as_it_was_written():
    for code in known_languages():
        read, written = cldr.read_language(code), written_in(code)
        assert written == read, code
        assert list(written.wide) == list(read.wide), code
