"""Sentences that claim nothing, and those that only look so."""

from __future__ import annotations

import pytest

from safepassage.passages.pleasantries import claims_nothing


@pytest.mark.parametrize(
    "sentence",
    [
        "I hope this helps!",
        "**Let me know if you have any further questions.**",
        "Would you like me to explain more?",
        "If you need more details, please don't hesitate to ask.",
        "You're welcome!",
        "Ich hoffe, das hilft Ihnen.",
        "N'hésitez pas à poser des questions.",
        "Faites-moi savoir si vous avez des questions.",
        "Espero que esto ayude.",
        "Spero che questo ti aiuti.",
        "Laat me weten of dit helpt.",
    ],
)
def test_a_courtesy_claims_nothing(sentence: str) -> None:
    assert claims_nothing(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The rent is due.",
        "Yes.",
        "You can.",
        "It is not.",
        "You have to let us know.",
        "I hope the patient helps.",
        "Let me know by 5 May.",
        "Thank you, the rent is £5.",
        "Did you know that the tenant may leave?",
        "You need further information.",
        "",
        "!",
    ],
)
def test_one_word_more_or_an_answer_is_a_claim(sentence: str) -> None:
    assert not claims_nothing(sentence)
