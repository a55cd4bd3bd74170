"""The command that builds `large`, on corpora of a few lines and a tiny base."""

from __future__ import annotations

import pytest
from safetensors.torch import load_file

from safepassage.scoring_worker import ModelError, load_scorer
from safepassage.scoring_worker.encoders.adapter import ADAPTER_FILE
from safepassage.scoring_worker.encoders.pinned import WEIGHTS_FILE
from safepassage.scoring_worker.laboratory.training import large_scorer
from safepassage.scoring_worker.laboratory.training.large_scorer import LargeSteps, build_large
from safepassage.scoring_worker.laboratory.training.reading import corpora
from safepassage.scoring_worker.laboratory.training.reading.fit import FitSettings
from safepassage.scoring_worker.manifest import ScorerManifest, file_digest
from tests.scoring_worker import tiny

from .small_corpora import few_documents, write_corpora

NAMES = ("alpha", "beta", "gamma", "delta")


@pytest.fixture
def steps(tmp_path, monkeypatch):
    data, base = tmp_path / "data", tmp_path / "base"
    write_corpora(data, NAMES, 40, claims=("train",))
    (tmp_path / "adapted").mkdir()
    tiny.adapted_scorer(tmp_path / "adapted", base)
    tiny.tokenizer(tiny.READER_LENGTH).save_pretrained(base)
    few = dict.fromkeys(NAMES[:3], 30)
    monkeypatch.setattr(corpora, "PERMISSIVE", few)
    monkeypatch.setattr(corpora, "synthetic_documents", few_documents)
    monkeypatch.setattr(corpora, "NLI_CLAIMS", 40)
    monkeypatch.setattr(corpora, "DOCUMENT_QUESTIONS", 60)
    monkeypatch.setattr(large_scorer, "LEFT_OUT", NAMES[:2])
    monkeypatch.setattr(large_scorer, "MEASURE_ONLY", NAMES[3:])
    monkeypatch.setattr(large_scorer, "ROWS", 40)
    monkeypatch.setattr(large_scorer, "SETTINGS", FitSettings(batch_size=8, most_steps=3))
    digest = file_digest(base / WEIGHTS_FILE)
    return LargeSteps(data, tmp_path / "folder", base, digest=digest)


def test_one_command_builds_large(steps, monkeypatch):
    """Adapter and heads ship; the base does not, and is asked for by its digest."""
    read = []
    training_corpus = corpora.training_corpus
    monkeypatch.setattr(
        "safepassage.scoring_worker.laboratory.training.reading.recipe.training_corpus",
        lambda *given, **options: read.append(options) or training_corpus(*given, **options),
    )
    manifest = build_large(steps)
    assert {"alpha", "beta"} < set(read[0]["without"])
    assert manifest == ScorerManifest.load(steps.out) == build_large(steps)
    assert len(read) == 1, "what was trained is not trained again"
    assert manifest.languages == ("en",)
    assert manifest.metrics["sources left out"].keys() == {"alpha", "beta"}
    assert manifest.metrics["fields that trained nothing"].keys() == {"delta"}
    assert set(manifest.files) == {
        ADAPTER_FILE, "config.json", "tokenizer.json", "MODEL_CARD.md"
    }  # fmt: skip
    adapter = load_file(steps.out / ADAPTER_FILE)
    assert all(name.endswith((".up", ".down", "weight", "bias")) for name in adapter)
    card = (steps.out / "MODEL_CARD.md").read_text("utf-8")
    assert "all-mpnet-base-v2" in card
    assert "| delta |" in card
    monkeypatch.setenv("SAFEPASSAGE_LARGE_BASE", str(steps.base))
    (assessment,) = load_scorer(steps.out, device="cpu").assess([tiny.pair()])
    assert assessment.failure is None


def test_another_base_is_refused(steps):
    with pytest.raises(ModelError, match="is not that of"):
        build_large(LargeSteps(steps.data, steps.folder, steps.base))
