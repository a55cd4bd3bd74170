"""The command that builds `large`, on corpora of a few lines and a tiny base."""

from __future__ import annotations

import shutil

import pytest

from recipes import (
    large_corpus,
    large_scorer,
    reader_training,
    reading_corpus,
    source_figures,
    stack_pairs,
)
from recipes.data_sets import answer_rows
from recipes.large_scorer import (
    WEIGHTS_FILE,
    LargeSteps,
    build_large,
)
from recipes.reading_corpus import Corpus
from safepassage.scoring_worker import ModelError, load_scorer
from safepassage.scoring_worker.encoders.reader_model import READER_FILE, WORDS_FILE
from safepassage.scoring_worker.forest import Forest
from safepassage.scoring_worker.manifest import ScorerManifest, file_digest
from safepassage.scoring_worker.training.reading.fit import FitSettings
from safepassage.scoring_worker.weighing.claim_support import CLAIMS_FILE, FILE
from tests.scoring_worker import tiny

from .small_corpora import few_documents, write_answers, write_corpora, write_relations

NAMES = ("alpha", "beta", "gamma", "delta")


@pytest.fixture
def steps(tmp_path, monkeypatch):
    data, base = tmp_path / "data", tmp_path / "base"
    write_corpora(data, NAMES, 40, claims=("train",))
    write_relations(data, 4)
    for name in ("answers", "more"):
        write_answers(data, name)
    monkeypatch.setattr(source_figures, "ANSWERS", ("answers", "more"))
    tiny.reader(kind="mpnet").encoder.save_pretrained(base)
    tiny.tokenizer(tiny.READER_LENGTH).save_pretrained(base)
    monkeypatch.setattr(large_corpus, "ENGLISH", dict.fromkeys(NAMES[:3], 30))
    monkeypatch.setattr(large_corpus, "judged_claims", lambda *_: ())
    monkeypatch.setattr(reading_corpus, "synthetic_documents", few_documents)
    monkeypatch.setattr(large_corpus, "LABELLED", dict.fromkeys(NAMES[:3], 1.0))
    monkeypatch.setattr(large_corpus, "NLI", 40)
    monkeypatch.setattr(large_corpus, "DOCUMENTS", 60)
    monkeypatch.setattr(large_scorer, "ENGLISH", {})
    monkeypatch.setattr(large_scorer, "claim_rows", lambda _: ())
    monkeypatch.setattr(large_scorer, "claims_forest", lambda *_: Forest.load(FILE))
    monkeypatch.setattr(stack_pairs, "synthetic_documents", few_documents)
    monkeypatch.setattr(stack_pairs, "DOCUMENT_PAIRS", 40)
    monkeypatch.setattr(large_scorer, "LEFT_OUT", NAMES[:2])
    monkeypatch.setattr(large_scorer, "MEASURE_ONLY", NAMES[3:])
    monkeypatch.setattr(large_scorer, "ROWS", 40)
    monkeypatch.setattr(large_scorer, "SETTINGS", FitSettings(batch_size=8, most_steps=3))
    monkeypatch.setattr(large_scorer, "SECOND", FitSettings(batch_size=8, most_steps=2))
    third = FitSettings(batch_size=8, most_steps=2, layers=1)
    monkeypatch.setattr(large_scorer, "THIRD", third)
    monkeypatch.setattr(large_scorer, "written_corpus", lambda _, known: Corpus(known, ()))
    digest = file_digest(base / WEIGHTS_FILE)
    return LargeSteps(data, tmp_path / "folder", base, digest=digest)


def test_one_command_builds_large(steps, monkeypatch):
    """What ships needs nothing of the base, which is asked for by its digest."""
    read = []
    fit = reader_training.fit
    monkeypatch.setattr(
        reader_training,
        "fit",
        lambda *given, **options: read.append(given) or fit(*given, **options),
    )
    manifest = build_large(steps)
    assert manifest == ScorerManifest.load(steps.out) == build_large(steps)
    assert len(read) == 3, "what was trained is not trained again"
    assert manifest.languages == ("en",)
    assert manifest.metrics["answers"]["more"]["rows"] == 6
    assert manifest.metrics["sources left out"].keys() == {"alpha", "beta"}
    assert manifest.metrics["fields that trained nothing"].keys() == {"delta"}
    assert set(manifest.files) == {
        READER_FILE, WORDS_FILE, CLAIMS_FILE, "config.json", "tokenizer.json", "MODEL_CARD.md"
    }  # fmt: skip
    card = (steps.out / "MODEL_CARD.md").read_text("utf-8")
    assert "all-mpnet-base-v2" in card
    assert "| delta |" in card
    shutil.rmtree(steps.base)
    (assessment,) = load_scorer(steps.out, device="cpu").assess([tiny.pair()])
    assert assessment.failure is None


def test_what_is_left_out_teaches_nothing(steps):
    sources = {q.source for q in large_corpus.large_corpus(steps.data, without=NAMES[:2]).questions}
    assert not [name for name in sources if name.startswith(("alpha", "beta"))]
    assert {"gamma", "redocred", "SNLI"} <= sources


def test_judged_answers_teach_or_measure_by_their_question(tmp_path):
    """No question is on both sides, and sets whose licence allows no training only measure."""
    for name in ("expertqa", "ragtruth_qa"):
        write_answers(tmp_path, name)
    taught = answer_rows(tmp_path, "expertqa", taught=True)
    measured = answer_rows(tmp_path, "expertqa")
    assert len(taught) + len(measured) == 6
    assert not {row["id"] for row in taught} & {row["id"] for row in measured}
    assert answer_rows(tmp_path, "ragtruth_qa", taught=True) == []
    assert len(answer_rows(tmp_path, "ragtruth_qa")) == 6


def test_another_base_is_refused(steps):
    with pytest.raises(ModelError, match="is not that of"):
        build_large(LargeSteps(steps.data, steps.folder, steps.base))
