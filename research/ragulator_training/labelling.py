"""Generative labelling: which context sentences support a sentence (RAGulator, section 2.3).

A sentence in context is known to be supported somewhere; a model with short windows has to know
where. An LLM names the sentences, in one of the paper's four ways of prompting, and every window
is labelled by whether it holds one of them. How far labels agree with a person's is Table 4.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pydantic import Field

from research.curation import CuratedPair
from research.detectors.llm.batch_calls import Asker, Conversation, NoAnswer
from research.detectors.llm.prompting import AnswerForm, Prompt, prompt
from research.windows import windows
from safepassage.passages.sentence_splitting import sentences
from safepassage.schemas.base import Contract
from safepassage.scoring_worker.evaluation.kappa import cohens_kappa

Variant = Literal["0-shot", "0-shot-cot", "5-shot", "5-shot-cot"]
VARIANTS: Final[tuple[Variant, ...]] = ("0-shot", "0-shot-cot", "5-shot", "5-shot-cot")

_SYSTEM: Final = """\
You mark evidence. You get one sentence and a list of numbered sentences of a text. Name by number
every sentence of the text that says what the one sentence says, or from which it follows directly.
Sentences that are merely about the same matter are no evidence. There is at least one.
"""
_REASONING: Final = (
    "First go through the candidates in a few short sentences, then give the list.\n"
)
_QUESTION: Final = "Which numbered sentences support the sentence?"

_EXAMPLES: Final[tuple[tuple[str, tuple[str, ...], str, tuple[int, ...]], ...]] = (
    ("The library opens at nine.",
     ("The library is by the river.", "Its doors are open from nine to five."),
     "0 tells where it is; 1 gives nine as the hour of opening.", (1,)),
    ("Ms. Odell repaid the loan early.",
     ("The loan was due in June.", "Ms. Odell paid the last rate in March.", "She owns a bakery."),
     "0 gives the due date and 1 an earlier payment: together they say it. 2 is another matter.",
     (0, 1)),
    ("The bridge was closed to lorries.",
     ("No vehicle above 3.5 tonnes may cross the bridge.", "The bridge is of steel."),
     "0 shuts out heavy vehicles, which lorries are; 1 is about the material.", (0,)),
    ("Three of the samples were spoilt.",
     ("Twelve samples were taken.", "Nine could be used.", "The other three had spoilt."),
     "2 says it in so many words; 0 and 1 give the other numbers.", (2,)),
    ("The committee will meet again in May.",
     ("The minutes were approved.", "The committee meets next on 4 May.", "Tea was served."),
     "1 names the next meeting and its day in May.", (1,)),
)  # fmt: skip
"""Written for this project."""


class Supporting(AnswerForm):
    """The numbers of the sentences that support a sentence."""

    supporting: list[int] = Field(max_length=2_000)


class ReasonedSupporting(AnswerForm):
    """The same after reasoning, so that the list follows from it."""

    reasoning: str
    supporting: list[int] = Field(max_length=2_000)


@dataclass(frozen=True, slots=True)
class Labelled:
    """The context sentences that support ``pair``, by number, or why there are none."""

    pair: CuratedPair
    places: tuple[tuple[int, int], ...]
    supporting: frozenset[int] = frozenset()
    failure: str | None = None


class LabellerAgreement(Contract):
    """How far a variant agrees with a person, over context sentences (the paper's Table 4)."""

    variant: str
    pairs: int
    context_sentences: int
    accuracy: float | None
    kappa: float | None
    failed: int


def question(pair: CuratedPair, places: Sequence[tuple[int, int]], variant: Variant) -> Prompt[
    Supporting | ReasonedSupporting
]:  # fmt: skip
    """The prompt of ``variant`` about one pair; texts are fenced material."""
    reasons = variant.endswith("cot")
    form = ReasonedSupporting if reasons else Supporting
    system = _SYSTEM + (_REASONING if reasons else "")
    if variant.startswith("5-shot"):
        system += "\n".join(_example(number, reasons) for number in range(len(_EXAMPLES)))
    listed = [pair.context[start:end] for start, end in places]
    material = {"SENTENCE": pair.sentence, "TEXT": _numbered(listed)}
    name = "reasoned_supporting" if reasons else "supporting"
    return prompt(name, system, material, _QUESTION, form)


def label(
    pairs: Sequence[CuratedPair], asker: Asker, variant: Variant = "0-shot"
) -> list[Labelled]:
    """What the LLM says of every pair, in order; a pair that fails loses no other.

    Blocks: it runs an event loop of its own.
    """
    asked = [(pair, tuple(sentences(pair.context))) for pair in pairs]

    async def one(
        conversation: Conversation, subject: tuple[CuratedPair, tuple[tuple[int, int], ...]]
    ) -> frozenset[int]:
        said = await conversation.ask(question(*subject, variant))
        return frozenset(said.supporting)

    found = asker.run(one, asked)
    return [
        _labelled(pair, places, said)
        for (pair, places), (said, _) in zip(asked, found, strict=True)
    ]


def _labelled(
    pair: CuratedPair, places: tuple[tuple[int, int], ...], said: frozenset[int] | NoAnswer
) -> Labelled:
    """Fail closed: numbers that are no sentence's, or none at all, label nothing."""
    if isinstance(said, NoAnswer):
        return Labelled(pair, places, failure=said.code)
    if not said or not said <= set(range(len(places))):
        return Labelled(pair, places, failure="numbers_out_of_range" if said else "none_named")
    return Labelled(pair, places, said)


def whole_windows(pair: CuratedPair, room: int) -> Iterator[CuratedPair]:
    """The windows of a pair out of context: it is so in every one, and needs no LLM."""
    yield from labelled_windows(Labelled(pair, ()), room)


def labelled_windows(labelled: Labelled, room: int) -> Iterator[CuratedPair]:
    """The windows of a pair in context, each grounded where it holds a supporting sentence.

    What is out of context is so in every window, regardless of what an LLM says.
    """
    pair = labelled.pair
    support = [labelled.places[number] for number in labelled.supporting]
    for number, window in enumerate(windows((pair.context,), room)):
        holds = any(window.start <= start and end <= window.end for start, end in support)
        yield replace(
            pair,
            id=f"{pair.id}-window-{number}",
            context=pair.context[window.start : window.end],
            grounded=pair.grounded and holds,
            kind=f"{pair.kind}-window",
        )


def agreement(
    variant: str, labelled: Sequence[Labelled], by_people: Mapping[str, frozenset[int]]
) -> LabellerAgreement:
    """Accuracy and Cohen's kappa over the context sentences of pairs that a person labelled too."""
    both = [one for one in labelled if one.pair.id in by_people]
    known = [one for one in both if one.failure is None]
    votes = [
        (int(number in one.supporting), int(number in by_people[one.pair.id]))
        for one in known
        for number in range(len(one.places))
    ]
    same = sum(ours == theirs for ours, theirs in votes)
    return LabellerAgreement(
        variant=variant,
        pairs=len(both),
        context_sentences=len(votes),
        accuracy=same / len(votes) if votes else None,
        kappa=cohens_kappa(votes),
        failed=len(both) - len(known),
    )


def _example(number: int, reasons: bool) -> str:
    sentence, text, why, supporting = _EXAMPLES[number]
    said = f' "reasoning": "{why}",' if reasons else ""
    return (
        f"Example {number + 1}. Sentence: {sentence}\n{_numbered(text)}\n"
        f'Answer: {{{said} "supporting": {list(supporting)}}}\n'
    )


def _numbered(listed: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(listed))
