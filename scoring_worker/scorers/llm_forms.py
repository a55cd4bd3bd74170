"""How an LLM that judges is asked, and where its answer says so: with our own question, or as a
published verifier was taught.

Prompts of published verifiers are theirs to the letter: other words would ask another model. The
source of each is beside it. None was run with its weights here.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from safepassage.llm_calls.caller import Question
from safepassage.llm_calls.errors import SchemaMismatch
from safepassage.schemas import ChatCompletion, stable_id
from safepassage.scoring_worker.manifest import ModelError

from .llm_prompt import Grade, Message, messages, response_format

ALTERNATIVES: Final = 10
"""Tokens that are asked for at each place; the two labels are among them."""
_THINKS: Final = "<think>"
_THOUGHT: Final = "</think>"
_MARKS: Final = re.compile(r"<(?=[|/!a-zA-Z])")


def _no_fields(_source: str) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class LLMForm:
    """How one LLM is asked whether a source supports a statement.

    ``messages`` are made of (source, statement); ``fields`` of the source are further ones of the
    request. An answer says ``yes`` or ``no`` between ``before`` and ``after`` (regular
    expressions, without case); the last time counts, and nothing that it thought. ``grade``:
    the answer is our JSON of ``schema``. ``controlled``: the source goes where a server may ignore
    it, so a statement that no source supports is asked about first.
    """

    messages: Callable[[str, str], list[Message]]
    before: str
    yes: str
    no: str
    after: str
    schema: Mapping[str, Any] | None = None
    grade: bool = False
    fields: Callable[[str], dict[str, Any]] = _no_fields
    controlled: bool = False

    def question(self, source: str, statement: str) -> Question:
        """What is asked of one pair."""
        return Question(self.messages(source, statement), self.schema, self.fields(source))

    def label(self, answer: str) -> tuple[bool, int]:
        """Whether ``answer`` says yes, and where in it the label begins (in code points).

        Raises:
            SchemaMismatch: it says neither.
        """
        if self.grade:
            _validated(answer)
        label = rf"{self.before}(?:(?P<yes>{self.yes})|(?P<no>{self.no})){self.after}"
        thought = answer.rfind(_THOUGHT)
        *_, found = [None, *re.compile(label, re.IGNORECASE).finditer(answer, thought + 1)]
        if found is None or answer.rfind(_THINKS) > thought:
            raise SchemaMismatch("the answer is not a grade")
        return found["yes"] is not None, max(found.start("yes"), found.start("no"))

    def begins(self, label: str, begun: str) -> bool:
        """Whether a token ``begun`` begins ``label``."""
        if not self.grade:
            label, begun = label.casefold(), begun.casefold()
        return label.startswith(begun)

    @property
    def digest(self) -> str:
        """Hex digits that change with the instructions, the examples or the schema."""
        fields = self.fields("")
        asked = [json.dumps(self.messages("", "")), json.dumps(self.schema)]
        return stable_id("prompt", *asked, *([json.dumps(fields)] if fields else []))


def _validated(answer: str) -> None:
    try:
        Grade.model_validate_json(answer)
    except ValidationError:
        raise SchemaMismatch("the answer is not a grade") from None


OWN: Final = LLMForm(
    messages, r'"label"\s*:\s*"', "supports", "insufficient", '"', response_format(), grade=True
)


def _disarmed(text: str) -> str:
    """``text`` without what a chat template's tokenizer could read as the end of a turn."""
    return _MARKS.sub("< ", text)


# github.com/Liyan06/MiniCheck (Apache-2.0), minicheck/utils.py and LLMCheck in inference.py: one
# token is generated, and the score is p("yes") of it without case. The weights need code of their
# own in transformers, so they are asked over an endpoint alone. Its licence: CC BY-NC 4.0.
_MINICHECK: Final = (
    "Determine whether the provided claim is consistent with the corresponding document. "
    "Consistency in this context implies that all information presented in the claim is "
    "substantiated by the document. If not, it should be considered inconsistent. Please assess "
    'the claim\'s consistency with the document by responding with either "Yes" or "No".'
)


def _bespoke(source: str, statement: str) -> list[Message]:
    asked = f"Document: {_disarmed(source)}\nClaim: {_disarmed(statement)}"
    return [{"role": "system", "content": _MINICHECK}, {"role": "user", "content": asked}]


# github.com/ibm-granite/granite-guardian (Apache-2.0), cookbooks for 3.3 and 4.1: the source as a
# document of the chat template, the statement as the assistant's turn, "yes" for ungrounded. Of 3.3
# the criterion is in the template, of 4.1 in a last turn. Both without thinking.
_UNGROUNDED: Final = (
    "A text is considered ungrounded or unfaithful if it includes information lacking support "
    "from, or directly contradicting, the provided document(s). This risk arises when the text "
    "fabricates details, misinterprets the content, or makes unsupported extrapolations beyond "
    "what is explicitly stated in the document(s)."
)
_GUARDIAN: Final = (
    "<guardian><no-think>As a judge agent, assess whether the provided text meets the given "
    "judging criteria using all available information, including conversations, documents, and "
    "tools. Provide your score immediately without explanation. Output empty <think>\\n</think> "
    f"tags followed by your score in <score></score> tags.\n\n### Criteria: {_UNGROUNDED}\n\n"
    "### Scoring Schema: If the last assistant's text meets the criteria, return 'yes'; otherwise, "
    "return 'no'."
)


def _guardian_33(_source: str, statement: str) -> list[Message]:
    return [{"role": "assistant", "content": _disarmed(statement)}]


def _guardian_41(source: str, statement: str) -> list[Message]:
    return [*_guardian_33(source, statement), {"role": "user", "content": _GUARDIAN}]


def _documents(source: str) -> dict[str, Any]:
    """The source among what vLLM and llama.cpp hand to the chat template."""
    given = [{"doc_id": "0", "text": _disarmed(source)}]
    return {"chat_template_kwargs": {"documents": given}}


def _documents_33(source: str) -> dict[str, Any]:
    told = {"guardian_config": {"criteria_id": "groundedness"}, "think": False}
    return {"chat_template_kwargs": _documents(source)["chat_template_kwargs"] | told}


_SCORE: Final = (r"<score>\s*", "no", "yes", r"\s*</score>")

FORMS: Final[Mapping[str, LLMForm]] = {
    "llm": OWN,
    "bespoke-minicheck": LLMForm(_bespoke, r"\A\s*", "yes", "no", r"\b"),
    "granite-guardian-3.3": LLMForm(_guardian_33, *_SCORE, fields=_documents_33, controlled=True),
    "granite-guardian-4.1": LLMForm(_guardian_41, *_SCORE, fields=_documents, controlled=True),
}
"""By the name of the scorer. HalluGuard's takes a file: see `halluguard`."""


def halluguard(instructions: Path) -> LLMForm:
    """HalluGuard-Qwen3-4B, asked with the ``instructions`` of its card (a file, a line each): one
    JSON of instructions, document and claim; it thinks, then names one of three classes.

    Source: the card lrsbrgrn/HalluGuard-Qwen3-4B (Apache-2.0), arXiv 2510.00880.

    Raises:
        ModelError: the file cannot be read, or does not name the classes.
    """
    try:
        lines = instructions.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read the instructions of HalluGuard: {instructions}") from error
    if not all(name in "\n".join(lines) for name in ("GROUNDED", "_INTRINSIC", "_EXTRINSIC")):
        raise ModelError(f"{instructions} has not the instructions of HalluGuard's card")

    def asked(source: str, statement: str) -> list[Message]:
        texts = {"document": _disarmed(source), "claim": _disarmed(statement)}
        content = json.dumps({"instructions": lines, **texts}, ensure_ascii=False)
        return [{"role": "user", "content": content}]

    before, after = r"<classification>\s*", r"(?:(?<=_)(?:IN|EX)TRINSIC)?\s*</classification>"
    return LLMForm(asked, before, "GROUNDED", "HALLUCINATED_", after)


def grade(form: LLMForm, completion: ChatCompletion) -> float:
    """p(yes) in an answer: by the log-probabilities of its label, where the endpoint tells them;
    else 1 or 0.

    Raises:
        SchemaMismatch: it says neither yes nor no.
    """
    yes, start = form.label(completion.content)
    told = _label_probability(form, completion, start)
    return float(yes) if told is None else told


def _label_probability(form: LLMForm, completion: ChatCompletion, start: int) -> float | None:
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
