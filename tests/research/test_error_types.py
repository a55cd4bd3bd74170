"""Types of errors: by the LLM, by the local classifier, on verdicts, and how far they agree."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from research.cli import app
from research.detectors.llm.settings import MethodSettings
from research.error_types.contract import StoppedClaim
from research.error_types.features import features
from research.error_types.llm import LLMTyper
from research.error_types.local import LocalTyper, TypeWeights
from research.error_types.training import (
    TypedExample,
    of_documents,
    split,
    train,
    trained,
)
from research.groundedness.typing import (
    LabelledError,
    compared,
)
from safepassage.schemas import CLAIM_TYPE
from safepassage.schemas.error_type import DESCRIPTIONS, ERROR_TYPES, ErrorTyping
from safepassage.scoring_worker.manifest import ModelError
from tests.research.recorded import recorded_llm, rows
from tests.streams.console.cases import verdict

PASSAGE = (
    "The landlord shall repair the roof within thirty days of a written notice. "
    "The tenant may keep hens."
)
LICENCE = (
    "The Licensor shall repair the system after a written notice. "
    "The parties may end this agreement within thirty days."
)


def _claim(text: str, **changes):
    return verdict(1, entity_type=CLAIM_TYPE, value=text, text=PASSAGE, passage=PASSAGE, **changes)


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("The parties may end this agreement within 40 days.", "factual_inaccuracy"),
        ("The Licensee shall repair the system after a written notice.", "misattribution"),
        ("The Licensor may repair the system after a written notice.", "reasoning_error"),
        ("The Licensor shall repair the system before a written notice.", "procedural_error"),
    ],
)
def test_the_local_classifier_knows_the_kinds_of_words_it_learnt(claim, kind):
    [typing] = LocalTyper.load().type_errors([StoppedClaim(claim, LICENCE)])
    assert typing.types[0] == kind
    assert typing.typed_by == "local"
    assert 1 / len(ERROR_TYPES) < typing.probability <= 1


texts = st.text(max_size=120)


@given(texts, texts)
def test_whatever_it_is_given_the_probabilities_are_of_all_types(claim, passage):
    known = LocalTyper.load().probabilities(StoppedClaim(claim, passage))
    assert set(known) == set(ERROR_TYPES)
    assert sum(known.values()) == pytest.approx(1)


def test_features_are_of_the_words_that_differ():
    found = features(StoppedClaim("The roof is repaired in 2019.", "The roof is repaired. Hens."))
    assert "n=2019" in found
    assert "n#digits" in found
    assert not any("roof" in name for name in found)
    assert "elsewhere" in features(StoppedClaim("Hens repair.", "The roof repair. Hens eat."))


def test_an_llm_types_claims_and_what_it_does_not_answer_stays_untyped():
    altered = [row for row in rows() if row["label"] == 0]
    asked = [
        StoppedClaim(row["response"].split(". ")[-1] if at == 0 else
                     row["response"].split(". ")[0] + ".", row["context"])
        for at, row in enumerate(altered)
    ]  # fmt: skip
    with recorded_llm() as url:
        settings = MethodSettings(openai_base_url=url, model="recorded", llm_attempts=1)
        found = LLMTyper(settings).type_errors([*asked, StoppedClaim("Unheard of.", "Nothing.")])
    assert [one.types if one else None for one in found] == [
        (altered[0]["error_type"],), (altered[1]["error_type"],), None,
    ]  # fmt: skip
    assert {one.typed_by for one in found if one} == {"llm"}


def test_weights_of_another_shape_are_refused(tmp_path):
    path = tmp_path / "w.json"
    path.write_text("{}")
    with pytest.raises(ModelError, match="no file of weights"):
        LocalTyper.load(path)
    with pytest.raises(ModelError, match="cannot read"):
        LocalTyper.load(tmp_path / "none.json")
    short = TypeWeights(
        types=ERROR_TYPES, bias=(0.0,) * 6, weights={"x": (1.0,)}, trained_on=(), measured={}
    )
    with pytest.raises(ModelError, match="not one for each"):
        LocalTyper(short, "1")


def _documents():
    sentence = (
        "The landlord may, before the hearing of the civil claim on 3 May 2011 number {}, "
        "ask for damages from the tenant."
    )
    return [{"id": f"d{at}", "text": sentence.format(at)} for at in range(60)]


def test_held_out_texts_and_rules_train_nothing():
    examples = list(of_documents(_documents()))
    assert {one.error_type for one in examples} == set(ERROR_TYPES)
    parts = split(examples, 100)
    groups = {one.group for one in parts.train}
    assert groups.isdisjoint(one.group for one in parts.known_rules + parts.held_rules)
    assert {one.rule for one in parts.train}.isdisjoint(one.rule for one in parts.held_rules)
    assert len(split(examples, 3).train) <= 3 * len(ERROR_TYPES)


def test_training_needs_every_type():
    [one, *_] = of_documents(_documents())
    with pytest.raises(ValueError, match="no example of"):
        train([one], ["x"])


def test_training_measures_what_it_is_worth():
    examples = []
    for kind in ERROR_TYPES:
        for at in range(40):
            stopped = StoppedClaim(f"word{kind} {at}x", "other")
            for rule in (f"r{kind}", "figure"):  # the latter is never held out
                examples.append(TypedExample(stopped, kind, rule, f"g{at}", "documents"))
    weights = trained(examples, ["x"], 100)
    assert any(name.endswith("_macro_f1") for name in weights.measured)
    assert LocalTyper(weights, "1").type_errors([examples[0].stopped])[0] is not None


def test_agreement_and_confusion_are_counted_by_type():
    errors = [
        LabelledError(StoppedClaim("c", "p"), kind)
        for kind in ("misattribution", "misattribution", "reasoning_error", "procedural_error")
    ]

    def typed(*types):
        return ErrorTyping(types=types, typed_by="llm", revision="1") if types else None

    ours = [typed("misattribution"), typed("reasoning_error"), typed("reasoning_error"), None]
    theirs = [
        typed("misattribution", "reasoning_error"), typed("reasoning_error"),
        typed("misattribution"), typed("procedural_error"),
    ]  # fmt: skip
    found = compared(errors, {"one": ours, "two": theirs})
    by_pair = {(one.one, one.other): one for one in found.agreements}
    assert by_pair["one", "label"].exact == pytest.approx(2 / 3)
    assert by_pair["two", "label"].overlapping == pytest.approx(0.5)
    assert (by_pair["one", "two"].n, by_pair["one", "two"].exact) == (3, pytest.approx(1 / 3))
    assert by_pair["one", "two"].overlapping == pytest.approx(2 / 3)
    assert found.confusion["one"]["misattribution"] == {"misattribution": 1, "reasoning_error": 1}
    assert found.confusion["one"]["procedural_error"] == {"untyped": 1}


def test_the_command_shows_agreement_and_confusion(tmp_path):
    path = tmp_path / "twins.jsonl"
    told = [
        {**row, "twin_of": row["id"][:-1] + "1"} if row["label"] == 0 else row for row in rows()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in told))
    out = tmp_path / "types.json"
    result = CliRunner().invoke(app, ["groundedness", "types", str(path), "--json", str(out)])
    assert result.exit_code == 0, result.output
    assert "local and label" in result.output
    assert json.loads(out.read_text())["n"] == 3  # one sentence, and both of the other answer


def test_each_type_has_a_description():
    assert set(DESCRIPTIONS) == set(ERROR_TYPES)
