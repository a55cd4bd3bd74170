"""The grade in an answer: how likely the LLM says that the pair is supported."""

import math
from collections.abc import Mapping
from typing import Final

from safepassage.llm_calls.caller import Completion

from .llm_forms import LLMForm

ALTERNATIVES: Final = 10
"""Tokens that are asked for at each place; the two labels are among them."""


def grade(form: LLMForm, completion: Completion) -> float:
    """p(yes) in an answer: by the log-probabilities of its label, where the endpoint tells them;
    else 1 or 0.

    Raises:
        SchemaMismatch: it says neither yes nor no.
    """
    yes, start = form.label(completion.content)
    told = _label_probability(form, completion, start)
    return float(yes) if told is None else told


def _label_probability(form: LLMForm, completion: Completion, start: int) -> float | None:
    """p(yes) against p(no) where the label begins; None where that is not told."""
    if "".join(token for token, _ in completion.tokens) != completion.content:
        return None
    at = 0
    for token, likeliest in completion.tokens:
        if at <= start < at + len(token):
            return _says_yes(form, token[: start - at], likeliest)
        at += len(token)
    return None


def _says_yes(form: LLMForm, before: str, likeliest: Mapping[str, float]) -> float | None:
    """p(yes) where each of the ``likeliest`` tokens with ``before`` in front begins a label. A
    label that is not one of them has at most the probability of the least likely one, and what
    they leave."""
    found = {form.yes: 0.0, form.no: 0.0}
    for token, logprob in likeliest.items():
        begun = token.removeprefix(before).rstrip('"}< \n')
        for label in found:
            if token.startswith(before) and begun and form.begins(label, begun):
                found[label] += math.exp(logprob)
    if not any(found.values()):
        return None
    told = [math.exp(logprob) for logprob in likeliest.values()]
    least = max(0.0, min(*told, 1 - sum(told)))
    yes, no = (probability or least for probability in found.values())
    return yes / (yes + no)
