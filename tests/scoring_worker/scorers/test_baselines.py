"""HHEM and the NLI baseline, on tiny models of their architectures."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, T5Config, T5ForTokenClassification

from safepassage.scoring_worker import ModelError, load_scorer
from safepassage.scoring_worker.encoders.published import NLI, ROWS
from tests.scoring_worker import tiny

WORDS = ["Determine", "if", "the", "hypothesis", "is", "true", "given", "premise", "?"]
WORDS += ["Premise", "Hypothesis", ":", "may", "june", "4", "ann", "lee", "{", "}", "text2"]


def t5_tokenizer():
    vocabulary = {"<pad>": 0, "</s>": 1, "<unk>": 2} | {w: 3 + at for at, w in enumerate(WORDS)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


@pytest.fixture
def hhem(tmp_path):
    """A folder as HHEM's: prefixed weights, its own config, and the foundation inside."""
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=3 + len(WORDS), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4
    )
    config.num_labels = 2
    model = T5ForTokenClassification(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    folder = tmp_path / "hhem"
    (folder / "foundation").mkdir(parents=True)
    config.save_pretrained(folder / "foundation")
    t5_tokenizer().save_pretrained(folder / "foundation")
    state = model.state_dict()
    stored = {
        f"t5.{name}": weight.clone()
        for name, weight in state.items()
        if not name.endswith("encoder.embed_tokens.weight")
    }
    save_file(stored, folder / "model.safetensors")
    own = {"model_type": "HHEMv2", "foundation": "google/flan-t5-base"}
    own |= {"auto_map": {"AutoModelForSequenceClassification": "modeling_hhem_v2.X"}}
    (folder / "config.json").write_text(json.dumps(own))
    (folder / "modeling_hhem_v2.py").write_text("raise SystemExit('code of a model was run')")
    return folder, model


def expected(model, premise, hypothesis):
    """As `predict` of its authors: the prompt of its config, then the first token."""
    prompt = (
        "<pad> Determine if the hypothesis is true given the premise?\n\n"
        f"Premise: {premise}\n\nHypothesis: {hypothesis}"
    )
    with torch.inference_mode():
        logits = model(**t5_tokenizer()(prompt, return_tensors="pt")).logits
    return logits[0, 0].softmax(-1)[1].item()


def test_hhem_scores_at_its_first_token(hhem):
    """softmax of the first token's logits, entry 1; the code beside the weights is not run."""
    folder, model = hhem
    scorer = load_scorer(f"hhem={folder}", device="cpu")
    pairs = [tiny.pair("may 4", "may"), tiny.pair("ann lee given june 4 premise", "june")]
    assessments = scorer.assess(pairs)
    for pair, assessment in zip(pairs, assessments, strict=True):
        assert assessment.score == pytest.approx(
            expected(model, pair.premise, pair.hypothesis), abs=1e-5
        )
        turned = expected(model, pair.hypothesis, pair.premise)
        assert abs(assessment.score - turned) > 1e-3, "the order of the texts must matter here"
    assert abs(assessments[0].score - assessments[1].score) > 1e-3
    assert scorer.name == "hhem"


def test_a_folder_with_hhem_is_loaded_as_hhem(hhem):
    """Its path is enough: the config says what it is."""
    folder, model = hhem
    (assessment,) = load_scorer(folder, device="cpu").assess([tiny.pair("may 4", "may")])
    assert assessment.scorer == "hhem"
    assert assessment.score == pytest.approx(expected(model, "may 4", "Date: may"), abs=1e-5)


def test_hhem_reads_texts_as_texts(hhem):
    """Neither placeholders nor special tokens in a document change the prompt."""
    folder, _ = hhem
    scorer = load_scorer(f"hhem={folder}", device="cpu")
    pieces, _ = scorer.encoder._tokenizer.pieces([(0, "may {text2} </s> <pad>", "june")])
    assert pieces[0].ids.count(1) == 1
    assert pieces[0].ids.count(0) == 1
    assert pieces[0].ids[0] == 0
    june = t5_tokenizer().convert_tokens_to_ids("june")
    assert pieces[0].ids.count(june) == 1


def test_hhem_fails_on_what_it_cannot_read_whole(hhem, monkeypatch):
    """A statement too long, or nothing to read: a failure, and the pairs beside have their scores.
    A source too long is read in windows."""
    monkeypatch.setitem(ROWS, "hhem", replace(ROWS["hhem"], tokens=60))
    scorer = load_scorer(hhem[0], device="cpu")
    texts = [("may", "may " * 60), ("may " * 60, "may"), ("may", "may"), ("", "may")]
    long, windows, good, empty = scorer.assess([tiny.pair(*pair) for pair in texts])
    assert (long.failure, empty.failure) == ("scorer_failed", "scorer_failed")
    assert windows.score is not None
    assert good.score is not None


def test_other_weights_are_not_hhem(hhem):
    """Missing, surplus or pickled weights are refused."""
    folder, _ = hhem
    path = folder / "model.safetensors"
    whole = load_file(path)
    save_file({n: w for n, w in whole.items() if "classifier" not in n}, path)
    with pytest.raises(ModelError, match="does not hold the weights"):
        load_scorer(f"hhem={folder}", device="cpu")
    save_file({n: w for n, w in whole.items() if "shared" not in n}, path)
    with pytest.raises(ModelError, match="does not hold the weights"):
        load_scorer(f"hhem={folder}", device="cpu")
    path.unlink()
    with pytest.raises(ModelError, match="as safetensors"):
        load_scorer(f"hhem={folder}", device="cpu")


def test_nli_is_a_deberta_by_its_hub_id(tmp_path, monkeypatch):
    """The name "nli" loads the hub's DeBERTaV3 NLI model, here a tiny one in its place."""
    folder = tiny.deberta(tmp_path / "deberta")
    asked = []

    def fetched(name, _):
        asked.append(name)
        return folder

    monkeypatch.setattr("safepassage.scoring_worker.scorers.folders.base_folder", fetched)
    scorer = load_scorer("nli", device="cpu")
    assert asked == [NLI]
    assert scorer.name == "nli"
    assert scorer.assess([tiny.pair()])[0].score is not None


def test_hhem_by_name_needs_the_hub_and_says_so(monkeypatch):
    """Without the hub, the name explains itself."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="model hub"):
        load_scorer("hhem")
