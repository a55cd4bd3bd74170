"""Languages and scripts, and when nobody can say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker.text.language import (
    language_of,
    language_of_document,
    script_of,
)
from tests.scoring_worker.comparison.texts import SENTENCES


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_a_sentence_is_in_its_language(language: str) -> None:
    code, confidence = language_of(SENTENCES[language])
    assert code == language
    assert 0.6 <= confidence <= 1


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_a_document_is_in_the_language_of_its_sentences(language: str) -> None:
    assert language_of_document(f"{SENTENCES[language]}\n" * 200)[0] == language


@pytest.mark.parametrize("text", ["", "1234", "Marta", "€ 5", "\ud800", "ok", "王"])
def test_what_is_too_short_is_unknown(text: str) -> None:
    assert language_of(text)[0] is None


def test_a_document_of_two_languages_is_unknown() -> None:
    mixed = f"{SENTENCES['ru'] * 20}{SENTENCES['en'] * 20}"
    assert language_of_document(mixed)[0] is None


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("abc", "Latn"),
        ("Straße 5", "Latn"),
        ("Привет, Bob", "Cyrl"),
        ("東京都", "Hani"),
        ("東京の", "Jpan"),
        ("김민수", "Hang"),
        ("محمد", "Arab"),
        ("राम", "Deva"),
        ("12", "Zyyy"),
        ("", "Zyyy"),
    ],
)
def test_scripts(text: str, script: str) -> None:
    assert script_of(text) == script


@settings(deadline=None)
@given(st.text(max_size=500))
def test_any_text_has_an_answer(text: str) -> None:
    code, confidence = language_of(text)
    assert code is None or len(code) == 2
    assert 0 <= confidence <= 1
    assert len(script_of(text)) == 4
    language_of_document(text)
