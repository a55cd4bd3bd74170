"""Labels by an LLM: prompts, windows, agreement; on answers that are recorded."""

import asyncio

import pytest

from research.curation import CuratedPair
from research.detectors.llm.batch_calls import Asker
from research.detectors.llm.settings import MethodSettings
from research.ragulator_training.labelling import (
    VARIANTS,
    Labelled,
    agreement,
    label,
    labelled_windows,
    question,
)
from safepassage.streams.demo.recorded_llm import Recording
from tests.recorded_llm.by_question import RecordedAnswer, RecordedAnswers
from tests.recorded_llm.server import recorded_app
from tests.recorded_llm.serving import serve

CONTEXT = "The lease began in May. The rent was 900 euros. Dogs bark. It ended in June."
PLACES = ((0, 23), (24, 47), (48, 58), (59, 76))


def _pair(sentence: str = "The rent was 900.", *, grounded: bool = True) -> CuratedPair:
    return CuratedPair(f"p-{sentence}", CONTEXT, sentence, grounded, "doc", "own", "made here")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_prompt_numbers_the_sentences_and_fences_the_texts(variant):
    asked = question(_pair(), PLACES, variant)
    system, user = (message["content"] for message in asked.messages)
    assert "1. The rent was 900 euros." in user
    assert "BEGIN SENTENCE" in user
    assert ("Example 5" in system) == variant.startswith("5-shot")
    assert ("reasoning" in asked.form["json_schema"]["schema"]["properties"]) == variant.endswith(
        "cot"
    )


def _asked(variant: str, *answers: RecordedAnswer) -> list[Labelled]:
    async def run() -> list[Labelled]:
        app = recorded_app(Recording((), ()), answers=RecordedAnswers(answers))
        async with serve(app) as url:
            settings = MethodSettings(
                openai_base_url=url, openai_api_key="none", model="recorded", llm_attempts=1
            )
            pairs = [_pair(), _pair("Dogs make noise."), _pair("Cats sleep.")]
            return await asyncio.to_thread(label, pairs, Asker(settings), variant)

    return asyncio.run(run())


def _answer(schema: str, sentence: str, *supporting: int) -> RecordedAnswer:
    said = {"supporting": list(supporting)}
    if schema.startswith("reasoned"):
        said = {"reasoning": "because", **said}
    return RecordedAnswer(schema_name=schema, contains=(sentence,), answer=said)


@pytest.mark.parametrize(
    ("variant", "schema"), [("0-shot", "supporting"), ("5-shot-cot", "reasoned_supporting")]
)
def test_the_llm_names_sentences_and_what_it_cannot_name_labels_nothing(variant, schema):
    good, out_of_range, unanswered = _asked(
        variant,
        _answer(schema, "The rent was 900.\n", 1),
        _answer(schema, "Dogs make noise.\n", 2, 99),
    )
    assert good.supporting == {1}
    assert out_of_range.failure == "numbers_out_of_range"
    assert unanswered.failure is not None
    assert not out_of_range.supporting | unanswered.supporting


def test_a_window_is_grounded_where_it_holds_a_supporting_sentence():
    made = list(labelled_windows(Labelled(_pair(), PLACES, frozenset({1})), 30))
    assert [(one.context, one.grounded) for one in made if one.grounded] == [
        ("The rent was 900 euros.", True)
    ]
    assert len(made) > 2
    foreign = Labelled(_pair(grounded=False), PLACES, frozenset({1}))
    assert not any(one.grounded for one in labelled_windows(foreign, 30))


def test_agreement_is_over_context_sentences_and_failures_are_counted():
    ours = [Labelled(_pair(), PLACES, frozenset({1})), Labelled(_pair("b"), PLACES, frozenset({0}))]
    lost = Labelled(_pair("c"), PLACES, failure="llm_timeout")
    people = {"p-The rent was 900.": frozenset({1}), "p-b": frozenset({2}), "p-c": frozenset({0})}
    found = agreement("0-shot", [*ours, lost], people)
    assert (found.pairs, found.context_sentences, found.failed) == (3, 8, 1)
    assert found.accuracy == pytest.approx(6 / 8)
    assert found.kappa == pytest.approx(1 / 3)
    assert agreement("0-shot", [], people).kappa is None
