"""The command that builds the scorer that ships, on corpora of a few lines and a tiny base."""

from __future__ import annotations

import pytest

from recipes import default_scorer, reading_corpus, source_figures, stack_pairs
from recipes.default_scorer import Steps, build
from recipes.source_figures import CANDIDATES
from recipes.stack_pairs import (
    generated_pairs,
    slot_pairs,
    unread_claims,
)
from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.manifest import ScorerManifest
from tests.scoring_worker import tiny

from .small_corpora import few_documents, write_answers, write_corpora

FAMILIES = {"one": ("alpha",), "two": ("beta",)}


@pytest.fixture
def steps(tmp_path, monkeypatch):
    """A folder with a base, data, and the recipe's numbers made small."""
    data, folder = tmp_path / "data", tmp_path / "folder"
    names = [name for (name,) in FAMILIES.values()]
    write_corpora(data, names, 60, claims=("train", "dev"))
    for name in ("answers", "more"):
        write_answers(data, name)
    monkeypatch.setattr(source_figures, "ANSWERS", ("answers", "more"))
    model = tiny.reader().encoder
    model.save_pretrained(folder / "base")
    tiny.tokenizer(tiny.READER_LENGTH).save_pretrained(folder / "base")
    few = dict.fromkeys(names, 40)
    for module, documents in ((default_scorer, stack_pairs), (reading_corpus, reading_corpus)):
        monkeypatch.setattr(module, "FAMILIES", FAMILIES)
        monkeypatch.setattr(module, "PERMISSIVE", few)
        monkeypatch.setattr(documents, "synthetic_documents", few_documents)
    monkeypatch.setattr(reading_corpus, "NLI_CLAIMS", 40)
    monkeypatch.setattr(reading_corpus, "DOCUMENT_QUESTIONS", 60)
    monkeypatch.setattr(stack_pairs, "DOCUMENT_PAIRS", 40)
    return Steps(data, folder)


def test_one_command_builds_the_scorer_that_ships(steps, monkeypatch):
    trained, opinions = [], []
    train_reader, family_opinions = default_scorer.train_reader, default_scorer._family_opinions

    def counted(*arguments, **options):
        asked = arguments[0].keywords
        trained.append((arguments[2].name, asked["without"], asked["share"]))
        return train_reader(*arguments, **options)

    def stopping(of, reader, family, names):
        opinions.append(family)
        if opinions == ["one", "two"]:
            raise KeyboardInterrupt
        return family_opinions(of, reader, family, names)

    monkeypatch.setattr(default_scorer, "train_reader", counted)
    monkeypatch.setattr(default_scorer, "_family_opinions", stopping)
    with pytest.raises(KeyboardInterrupt):
        build(steps)
    manifest = build(steps)
    assert trained == [
        ("reader", (), 0.8),
        ("fold-one", ("alpha",), 0.14),
        ("fold-two", ("beta",), 0.14),
    ], "what was done is not done again"
    out = steps.folder / "default"
    assert manifest == ScorerManifest.load(out)
    assert (manifest.name, manifest.base, manifest.precision) == ("default", None, "int8")
    assert manifest.metrics["means of sources left out"]["sources"] == 2
    assert manifest.metrics["sources left out"]["alpha"]["rows"] == 120
    assert "SNLI" in manifest.metrics["made from sources left out, and claims"]
    assert manifest.thresholds.default in CANDIDATES
    assert build(steps) == manifest, "the same steps give the same scorer, to the last byte"
    assert manifest.stack["with_packs"].keys() == {"contracts", "legal", "contracts+legal"}
    card = (out / "MODEL_CARD.md").read_text("utf-8")
    assert "multilingual-e5-small" in card
    assert "| alpha | 120 |" in card
    assert "## Where it is weak" in card
    (assessment,) = load_scorer(out, device="cpu").assess([tiny.pair()])
    assert assessment.failure is None


def test_rows_of_a_passage_stay_together(steps):
    pairs = slot_pairs(steps.data, "alpha", 21)
    assert len(pairs) == 22
    assert [pair.label for pair in pairs] == [1, 0] * 11
    assert pairs == slot_pairs(steps.data, "alpha", 21)


def test_claims_are_of_rows_that_taught_nothing(steps):
    """What the reader was taught, no weight of the stack is fitted on."""
    corpus = reading_corpus.training_corpus(steps.data, share=0.5)
    taught = {(question.passage, question.asked[0]) for question in corpus.questions}
    (unread,) = unread_claims(steps.data, corpus).values()
    assert {(pair.premise, pair.value) for pair in unread}.isdisjoint(taught)
    assert {pair.label for pair in unread} == {0, 1}


def test_altered_sentences_are_claims(steps):
    pairs = generated_pairs(steps.data, "alpha", 20)
    kinds = {(pair.kind, pair.entity_type == CLAIM_TYPE) for pair in pairs}
    assert kinds == {("generated", False), ("altered", True)}


def test_without_a_base_it_says_what_to_give(tmp_path):
    with pytest.raises(ValueError, match="--base-file"):
        build(Steps(tmp_path, tmp_path / "folder"))
