"""Corrected values keep the shape of the extracted ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.streams.console.web.correction import (
    MAX_CORRECTION_CHARACTERS,
    BadCorrection,
    form_for,
    read_correction,
)

DATE = {"yyyy": 2012, "mm": 1, "dd": None}


def typed(value: object) -> dict[str, str]:
    return {field.name: field.text for field in form_for(value).inputs}


def test_a_date_is_corrected_field_by_field_and_stays_a_date() -> None:
    form = form_for(DATE)
    assert [field.label for field in form.inputs] == ["yyyy", "mm", "dd"]
    corrected = read_correction(DATE, typed(DATE) | {"field1": "2", "field2": "17"})
    assert corrected == {"yyyy": 2012, "mm": 2, "dd": 17}


def test_a_blank_field_is_absent() -> None:
    assert read_correction(DATE, typed(DATE) | {"field1": " "}) == {
        "yyyy": 2012,
        "mm": None,
        "dd": None,
    }


@pytest.mark.parametrize(
    ("original", "text", "corrected"),
    [
        ("Ann Lee", "  Ann Leigh ", "Ann Leigh"),
        ("one\ntwo", "one\r\nthree", "one\nthree"),
        (3, "4", 4),
        (3.5, "-2.25", -2.25),
        (True, "no", False),
        ("2012", "2013", "2013"),
    ],
)
def test_a_plain_value_keeps_its_kind(original: object, text: str, corrected: object) -> None:
    assert read_correction(original, {"value": text}) == corrected


def test_a_deeper_value_is_corrected_as_json() -> None:
    original = {"names": ["Ann", "Ben"]}
    assert form_for(original).shape == "json"
    assert read_correction(original, {"value": '{"names": ["Ann"]}'}) == {"names": ["Ann"]}


@pytest.mark.parametrize(
    ("original", "form", "message"),
    [
        ("Ann", {"value": "Ann"}, "unchanged"),
        ("Ann", {"value": "  "}, "empty"),
        (DATE, {}, "empty"),
        (3, {"value": "three"}, "number"),
        (3, {"value": "nan"}, "number"),
        (3, {"value": "1e999"}, "number"),
        (True, {"value": "perhaps"}, "yes or no"),
        (["a"], {"value": "[1,"}, "JSON"),
        (["a"], {"value": "[NaN]"}, "JSON"),
        (["a"], {"value": "[" * 5000}, "JSON"),
        ("Ann", {"value": "x" * (MAX_CORRECTION_CHARACTERS + 1)}, "longer"),
    ],
)
def test_what_is_no_correction_is_refused_with_a_word_for_the_reviewer(
    original: object, form: dict[str, str], message: str
) -> None:
    with pytest.raises(BadCorrection, match=message):
        read_correction(original, form)


scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=12)
values = st.text(min_size=1) | scalars | st.dictionaries(st.text(max_size=8), scalars, max_size=4)


@given(values.filter(lambda value: value is not None))
def test_what_nobody_touched_is_never_a_correction_of_its_kind(value: object) -> None:
    try:
        corrected = read_correction(value, typed(value))
    except BadCorrection:
        return
    # Only blanks at the ends of a text, and empty texts, do not survive the form.
    assert isinstance(corrected, str | dict)
    assert str(corrected) != str(value)
