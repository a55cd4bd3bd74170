"""Weights as others publish them: `.bin`, `spm.model`, two labels, the sentence first.

Every test computes the expected number with transformers alone, on the ids that the model's own
tokenizer gives, so that a wrong label, order or vocabulary fails it.
"""

from __future__ import annotations

import json

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from research.detectors.nli import pairs
from research.detectors.nli.pairs import cross_encoder
from research.detectors.registry import load_detector
from research.detectors.similarity.embedding import encoder_embedder
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.encoders import weights
from safepassage.scoring_worker.encoders.batching import PairTokenizer
from safepassage.scoring_worker.encoders.published import (
    CONTEXT_NLI,
    FACT_KB,
    HEADS,
    RAGULATOR,
    pinned,
)
from safepassage.scoring_worker.encoders.weight_folders import base_digest, named_folder
from safepassage.scoring_worker.encoders.weights import load_with_new_head
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.scorers import folders
from safepassage.scoring_worker.scorers.folders import load_folder, open_manifest
from tests.scoring_worker import tiny

CPU = DetectorSettings(device="cpu")
CONTEXT = "the tenant pays the landlord. a court dismissed it."
SENTENCE = "the landlord pays."


@pytest.fixture(scope="module")
def deberta(tmp_path_factory):
    """DeBERTa-v2 of two unnamed labels with `pytorch_model.bin` and `spm.model`, no more."""
    sentencepiece = pytest.importorskip(
        "sentencepiece", reason="pip install 'safepassage[sentencepiece]'"
    )
    folder = tmp_path_factory.mktemp("deberta-v3")
    texts = [f"{words} {at}" for at in range(60) for words in (CONTEXT, SENTENCE)]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_prefix=str(folder / "spm"), model_type="unigram",
        vocab_size=64, hard_vocab_limit=False, minloglevel=2, pad_id=0, bos_id=1, eos_id=2,
        unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]",
    )  # fmt: skip
    (folder / "spm.vocab").unlink()
    settings = {"do_lower_case": False, "vocab_type": "spm"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    torch.manual_seed(0)
    config = DebertaV2Config(
        **{**tiny.SIZES, "vocab_size": 80}, max_position_embeddings=64, relative_attention=True,
        pos_att_type=["p2c", "c2p"], position_buckets=16, type_vocab_size=0, num_labels=2,
    )  # fmt: skip
    return _pickled(DebertaV2ForSequenceClassification(config), folder)


def _pickled(model, folder):
    model.config.save_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return folder


def _expected(folder, first, second, label, tokenizer=None):
    """Softmax of one label over the two texts in that order."""
    tokenizer = AutoTokenizer.from_pretrained(tokenizer or folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = model(**tokenizer(first, second, return_tensors="pt")).logits
    return float(torch.softmax(logits, -1)[0, label])


def test_ragulators_weights_say_in_context_with_the_sentence_first(deberta):
    settings = DetectorSettings(model=str(deberta), device="cpu")
    [found] = load_detector("ragulator-encoder", settings).ground([Answer((CONTEXT,), SENTENCE)])
    expected = _expected(deberta, SENTENCE, CONTEXT, label=0)
    assert found.score == pytest.approx(expected, abs=1e-5)
    for first, second, label in [(SENTENCE, CONTEXT, 1), (CONTEXT, SENTENCE, 0)]:
        assert _expected(deberta, first, second, label) != pytest.approx(expected, abs=1e-2)


def test_a_scorer_of_ragulators_weights_reads_them_in_their_order(deberta, monkeypatch):
    monkeypatch.setattr(folders, "base_folder", lambda *_: deberta)
    folder, manifest = open_manifest(f"{RAGULATOR}@{'0' * 40}")
    scorer = load_folder(folder, manifest, device="cpu")
    pair = tiny.pair("the tenant pays the landlord.", "a court")
    expected = _expected(deberta, pair.hypothesis, pair.premise, label=0)
    assert scorer.assess([pair])[0].score == pytest.approx(expected, abs=1e-5)


def test_windows_of_a_long_source_keep_the_whole_sentence_before_them(deberta):
    """At most 64 tokens: the source is cut into windows, the sentence never."""
    words = AutoTokenizer.from_pretrained(deberta).backend_tokenizer
    made = PairTokenizer(words, 64, typed=False, hypothesis_first=True)
    pieces, failures = made.pieces([(0, " ".join([CONTEXT] * 4), SENTENCE)])
    start = words.encode(SENTENCE).ids  # with [CLS] and [SEP]
    assert not failures
    assert len(pieces) > 2
    assert all(piece.ids[: len(start)] == start and len(piece) <= 64 for piece in pieces)


def test_context_nli_asks_for_contradiction_and_leaves_neutral_out(deberta, tmp_path):
    """One minus p(contradiction), as published; of three labels, neutral counts as no objection."""
    settings = DetectorSettings(model=str(deberta), device="cpu")
    source = "the tenant pays the landlord."
    [found] = load_detector("context_nli", settings).ground([Answer((source,), SENTENCE)])
    assert found.score == pytest.approx(1 - _expected(deberta, SENTENCE, source, 1), abs=1e-5)
    three = tiny.bert(tmp_path / "three")  # contradiction, entailment, neutral
    [found] = load_detector("context_nli", DetectorSettings(model=str(three), device="cpu")).ground(
        [Answer((source,), SENTENCE)]
    )
    assert found.score == pytest.approx(1 - _expected(three, SENTENCE, source, 0), abs=1e-5)


def test_fact_kb_takes_the_tokenizer_that_its_card_names(tmp_path, monkeypatch):
    """RoBERTa's weights without a tokenizer: it comes from elsewhere, and index 1 is factual."""
    words = tmp_path / "roberta-base"
    made = tiny.tokenizer()
    made.model_input_names = ["input_ids", "attention_mask"]
    made.save_pretrained(words)
    torch.manual_seed(0)
    config = RobertaConfig(
        **tiny.SIZES, max_position_embeddings=80, type_vocab_size=1, num_labels=2, pad_token_id=0
    )
    folder = tmp_path / "fact-kb"
    folder.mkdir()
    _pickled(RobertaForSequenceClassification(config), folder)
    asked = []

    def from_hub(name, files):
        asked.append((name, "*.safetensors" in files))
        return words

    monkeypatch.setattr(pairs, "named_folder", lambda _: folder)
    monkeypatch.setattr(weights, "from_hub", from_hub)
    source = "the tenant pays."
    [found] = load_detector("fact_kb", CPU).ground([Answer((source,), SENTENCE)])
    expected = _expected(folder, SENTENCE, source, 1, tokenizer=words)
    assert found.score == pytest.approx(expected, abs=1e-5)
    assert asked == [(HEADS[FACT_KB].tokenizer, False)]


def test_a_folder_without_a_tokenizer_is_refused(tmp_path):
    tiny.bert(tmp_path)
    for path in tmp_path.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(ModelError, match="no tokenizer"):
        cross_encoder(str(tmp_path), CPU, HEADS[RAGULATOR])


def test_without_sentencepiece_the_message_says_what_to_install(deberta, monkeypatch):
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"safepassage\[sentencepiece\]"):
        cross_encoder(str(deberta), CPU, HEADS[RAGULATOR])


def test_an_encoder_without_a_head_is_read_from_a_pickle(deberta):
    vectors = encoder_embedder(str(deberta), CPU).embed(["the tenant pays.", "a court"])
    assert vectors.shape == (2, 32)
    assert (vectors**2).sum(axis=1) == pytest.approx([1.0, 1.0])


def test_training_starts_in_full_precision(deberta, tmp_path):
    model = DebertaV2ForSequenceClassification.from_pretrained(deberta).half()
    model.save_pretrained(tmp_path)
    assert load_with_new_head(tmp_path).dtype == torch.float32


def test_the_digest_changes_with_pickled_weights_and_sentencepieces(deberta, tmp_path):
    before = base_digest(deberta)
    for name in ("pytorch_model.bin", "spm.model"):
        path = deberta / name
        kept = path.read_bytes()
        path.write_bytes(kept + b"\0")
        assert base_digest(deberta) != before
        path.write_bytes(kept)
    assert base_digest(deberta) == before


def test_pickled_weights_of_the_hub_need_a_commit(deberta, monkeypatch):
    fetched = []

    def download(name, *, revision, allow_patterns):
        fetched.append((name, revision, "pytorch_model*.bin" in allow_patterns))
        return str(deberta)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(ModelError, match="name their commit"):
        named_folder(CONTEXT_NLI)
    with pytest.raises(ModelError, match="name their commit"):
        named_folder(f"{CONTEXT_NLI}@main")
    commit = "a" * 40
    assert named_folder(f"{CONTEXT_NLI}@{commit}") == deberta
    assert fetched[-1] == (CONTEXT_NLI, commit, True)
    assert not any(pickled for _, revision, pickled in fetched if revision != commit)


def test_every_pin_is_a_commit():
    for name in [*HEADS, "FacebookAI/roberta-base"]:
        commit = pinned(name).partition("@")[2]
        assert not commit or (len(commit) == 40 and int(commit, 16))
    assert pinned("owner/name@main") == "owner/name@main"
