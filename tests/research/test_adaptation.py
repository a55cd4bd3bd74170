"""Altered answers, by an LLM and by rule; what a grounding classifier learns from them."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from research.adaptation.files import (
    sentence_twins,
    written_rows,
)
from research.adaptation.llm_twins import adapt, ask
from research.adaptation.rule_twins import (
    alterations,
    one_alteration,
    swaps,
)
from research.adaptation.twins import (
    Twins,
    differing,
    refusal,
    split_of,
)
from research.cli import app
from research.detectors.llm.batch_calls import Asker
from research.detectors.llm.settings import MethodSettings
from research.detectors.registry import load_detector
from research.grounding.examples import (
    GroundingExample,
    SentenceTwins,
    of_nli,
    weighted,
)
from research.grounding.fit import GroundingFit, fit
from research.grounding.models import (
    CrossEncoder,
    TrainedReader,
)
from safepassage.schemas.error_type import DESCRIPTIONS, ERROR_TYPES
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.manifest import PACKAGED_BASE, ModelError
from safepassage.scoring_worker.training.corpora import CorpusError
from tests.research.recorded import recorded_llm, rows
from tests.scoring_worker import tiny

GROUNDED = rows()[0]
CONTEXT = GROUNDED["context"]


def _recorded(path, altered: dict[str, str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for kind, text in altered.items():
            said = {"answer": text, "changed": "some words"}
            line = {"schema_name": "altered_answer", "contains": [f"{kind}: "], "answer": said}
            file.write(json.dumps(line) + "\n")


ALTERED = {
    "factual_inaccuracy": GROUNDED["response"].replace("thirty", "sixty"),
    "procedural_error": GROUNDED["response"].replace("registrar", "bailiff"),
    "misattribution": GROUNDED["response"],  # the LLM changed nothing
    "reasoning_error": "Nothing of the kind has ever been required of anybody.",
}


def test_an_llm_makes_twins_and_what_is_no_subtle_variant_is_refused(tmp_path):
    _recorded(tmp_path / "a.jsonl", ALTERED)
    answer = Answer((CONTEXT,), GROUNDED["response"], GROUNDED["query"])
    with recorded_llm(path=tmp_path / "a.jsonl") as url:
        settings = MethodSettings(openai_base_url=url, model="recorded", llm_attempts=1)
        made = adapt([("h", answer)], Asker(settings))
    assert {one.error_type for one in made.twins} == {"factual_inaccuracy", "procedural_error"}
    assert made.failures["no sentence differs"] == 1
    assert made.failures["it was written anew"] == 1
    assert sum(made.failures.values()) == 4
    assert made.usage.input_tokens > 0


def test_each_type_is_explained_to_the_llm():
    for kind in ERROR_TYPES:
        question = ask(Answer(("c",), "r"), kind).messages[-1]["content"]
        assert DESCRIPTIONS[kind] in question


def test_the_command_writes_answers_with_their_twins_in_one_split(tmp_path, monkeypatch):
    _recorded(tmp_path / "a.jsonl", ALTERED)
    given_ = tmp_path / "answers.jsonl"
    given_.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    out = tmp_path / "twins.jsonl"
    with recorded_llm(path=tmp_path / "a.jsonl") as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("SAFEPASSAGE_MODEL", "recorded")
        result = CliRunner().invoke(
            app,
            ["groundedness", "adapt", str(given_), "--out", str(out), "--limit", "1",
             "--type", "factual_inaccuracy", "--type", "procedural_error",
             "--cache", str(tmp_path / "kept.jsonl")],
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "altered answers: 2 of 2" in result.stderr
    written = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["label"] for row in written] == [1, 0, 0]
    assert len({row["split"] for row in written}) == 1
    assert {row["twin_of"] for row in written[1:]} == {written[0]["id"]}


queries = st.text(min_size=1, max_size=60)


@given(queries)
def test_all_spellings_of_a_query_are_in_one_split(query):
    assert split_of(query) == split_of(f"  {query.casefold()}  ")


def test_the_splits_have_about_their_shares():
    drawn = [split_of(f"query {at}") for at in range(4_000)]
    for name, share in (("train", 0.7), ("dev", 0.1), ("test", 0.2)):
        assert drawn.count(name) / len(drawn) == pytest.approx(share, abs=0.03)


def test_only_sentences_with_a_counterpart_differ():
    ours = "The tenant pays the rent. The landlord keeps the roof. The hens may stay."
    theirs = "The tenant pays the rent. The tenant keeps the roof. The hens may stay."
    assert differing(ours, theirs) == [
        ("The landlord keeps the roof.", "The tenant keeps the roof.")
    ]
    assert differing(ours, ours) == []
    assert refusal(ours, theirs) is None


@pytest.mark.parametrize(
    ("sentence", "kind", "altered"),
    [
        ("The landlord may enter.", "misattribution", "The tenant may enter."),
        ("The landlord may enter.", "reasoning_error", "The landlord must enter."),
        ("Notice is given before the sale.", "procedural_error", "Notice is given after the sale."),
        ("It is a residential house.", "contextual_misinterpretation", "It is a commercial house."),
        ("The negligence was gross.", "terminological_error", "The fraud was gross."),
    ],
)
def test_a_rule_makes_one_error_of_its_type(sentence, kind, altered):
    made = {one.text: one.error_type for one in alterations(sentence)}
    assert made[altered] == kind


@given(st.sampled_from(swaps()), st.integers(0, 5))
def test_every_rule_changes_and_none_repeats(swap, seed):
    sentence = f"Here the {swap.one} stands on 12 May."
    made = alterations(sentence, seed)
    assert sentence not in [one.text for one in made]
    assert len({one.text for one in made}) == len(made)
    assert any(swap.other.casefold() in one.text.casefold() for one in made)
    assert "factual_inaccuracy" in {one.error_type for one in made}
    assert one_alteration(sentence, seed) == one_alteration(sentence, seed)


def test_no_rule_no_twin():
    assert one_alteration("Xyz.") is None


def test_nli_rows_become_twins():
    said = [
        ("SNLI", "p", "yes", "entailment"),
        ("SNLI", "p", "no", "contradiction"),
        ("MultiNLI", "q", "It may rain.", "entailment"),
        ("ANLI-r1", "r", "yes", "entailment"),  # not of a permissive licence
        ("ANLI-r1", "r", "no", "contradiction"),
    ]
    names = ("source", "premise", "hypothesis", "label")
    made = list(of_nli(dict(zip(names, row, strict=True)) for row in said))
    assert made[0] == SentenceTwins("p", ("p",), "yes", "no")
    assert (made[1].grounded, made[1].altered) == ("It may rain.", "It must rain.")
    assert len(made) == 2


class Letters:
    """Embeds by letters."""

    revision = "letters"

    def embed(self, sentences):
        rows_ = np.array([[s.count(c) + 0.01 for c in "abcdefgh"] for s in sentences])
        return rows_ / np.linalg.norm(rows_, axis=1, keepdims=True)


def test_labels_are_cosines_and_one_minus_them_beside_the_same_source():
    twins = SentenceTwins("g", ("hhh", "abc"), "abcd", "abce")
    grounded, altered = weighted([twins], Letters())
    assert grounded.source == altered.source == "abc"
    assert grounded.label == pytest.approx(0.866, abs=0.01)
    assert altered.label == pytest.approx(1 - grounded.label)


def _examples() -> list[GroundingExample]:
    """A sentence is grounded where it begins with "is"."""
    made = []
    for at in range(60):
        letter = "abcdef"[at % 6]
        made.append(GroundingExample(f"x {letter}", f"is {letter}", 0.95, f"g{at}"))
        made.append(GroundingExample(f"x {letter}", f"no {letter}", 0.05, f"g{at}"))
    return made


def _quiet(*_):
    pass


@pytest.mark.parametrize("kind", ["cross-encoder", "reader"])
def test_a_model_learns_to_tell_twins_apart_and_loads_as_gc(tmp_path, kind, monkeypatch):
    torch.manual_seed(0)
    if kind == "cross-encoder":
        trainee = CrossEncoder(str(tiny.bert(tmp_path / "base")))
    else:
        monkeypatch.setattr(
            "safepassage.scoring_worker.scorers.folders.DEFAULT_MODEL",
            tiny.reader_scorer(tmp_path / "base"),
        )
        trainee = TrainedReader()
    settings = GroundingFit(epochs=20, learning_rate=2e-3, batch_size=16)
    fitted = fit(trainee, _examples(), settings, _quiet)
    assert fitted.held_out > 0
    assert fitted.accuracy > 0.9 > fitted.before
    folder = tmp_path / "gc"
    folder.mkdir()
    trainee.save(folder, ["nothing"])
    detector = load_detector("gc", DetectorSettings(model=str(folder), device="cpu"))
    found = detector.ground([Answer(("x a",), "is a"), Answer(("x a",), "no a")])
    assert found[0].score > 0.5 > found[1].score


def test_a_reader_with_words_of_its_own_is_not_taught_further(tmp_path):
    folder = tiny.reader_scorer(tmp_path / "own")
    with pytest.raises(ModelError, match="words that ship"):
        TrainedReader(str(folder)).save(tmp_path, [])
    assert PACKAGED_BASE == "default"


def test_twins_are_read_back_and_only_those_of_the_training_split(tmp_path):
    path = tmp_path / "t.jsonl"
    made = [
        Twins(f"t{at}", f"query {at}", (CONTEXT,), GROUNDED["response"],
              ALTERED["factual_inaccuracy"], "factual_inaccuracy")
        for at in range(20)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in written_rows(made)))
    read = sentence_twins(path, 100)
    assert {one.group for one in read} == {one.query for one in made if one.split == "train"}
    assert all("sixty" in one.altered and "thirty" in one.grounded for one in read)
    path.write_text("{}\n")
    with pytest.raises(CorpusError):
        sentence_twins(path, 1)
