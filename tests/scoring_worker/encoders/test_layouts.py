"""Every row of `encoders.published.ROWS` against its authors' way of calling the model, on a tiny
model of the same architecture. The expected number comes from transformers alone, on the text that
the authors write; with the two texts exchanged, or another label, it would be another number."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    BertForTokenClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    ModernBertConfig,
    ModernBertForSequenceClassification,
    ModernBertForTokenClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    RobertaModel,
    T5Config,
    T5ForConditionalGeneration,
)

from safepassage.scoring_worker import ModelError, load_scorer
from safepassage.scoring_worker.encoders.published import HEADS, ROWS
from safepassage.scoring_worker.encoders.weights import load_full, load_with_new_head
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.scorers import folders
from tests.scoring_worker import tiny

SOURCE = "the tenant pays the landlord 40 each may."
CLAIM = "Rent: 40"
PAIR = tiny.pair(SOURCE, "40", "Rent")
MODERN = {
    "vocab_size": tiny.SIZES["vocab_size"],
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 512,
    "initializer_range": 0.4,
    "initializer_cutoff_factor": 2.0,
    "pad_token_id": 0,
    "cls_token_id": 2,
    "sep_token_id": 3,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "classifier_pooling": "mean",
}


def marked(first: str, last: str, **special: str) -> PreTrainedTokenizerFast:
    """The tiny tokenizer under the marks of RoBERTa or T5."""
    marks = ["<pad>", "<unk>", "<s>", "</s>", "<mask>"]
    names = [*marks, *tiny.ALPHABET, *(f"##{sign}" for sign in tiny.ALPHABET)]
    made = Tokenizer(
        models.WordPiece({name: at for at, name in enumerate(names)}, unk_token="<unk>")
    )
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single=f"{first}$A {last}",
        pair=f"{first}$A {last} {last} $B {last}",
        special_tokens=[("<s>", 2), ("</s>", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", eos_token="</s>", **special
    )


def saved(model, folder, words=None):
    torch.manual_seed(3)
    for name, weight in model.named_parameters():
        if weight.dim() > 1:  # large enough that the order of the texts is felt at the head
            torch.nn.init.normal_(weight, std=0.15 if name.startswith("classifier") else 0.6)
    model.eval().save_pretrained(folder)
    words = words or tiny.tokenizer(512)
    words.model_input_names = ["input_ids", "attention_mask"]
    words.save_pretrained(folder)
    return folder


def sized(kind, **more):
    return kind(**{**tiny.SIZES, "max_position_embeddings": 512, "num_labels": 2, **more})


def deberta(folder, **more):
    more = {"relative_attention": True, "position_biased_input": False, **more}
    config = sized(
        DebertaV2Config, pos_att_type=["p2c", "c2p"], position_buckets=16, type_vocab_size=0, **more
    )
    return saved(DebertaV2ForSequenceClassification(config), folder)


def roberta(folder, **more):
    config = sized(
        RobertaConfig, max_position_embeddings=520, type_vocab_size=1, pad_token_id=0, **more
    )
    words = marked("<s> ", "</s>", bos_token="<s>", cls_token="<s>", sep_token="</s>")
    return saved(RobertaForSequenceClassification(config), folder, words)


def bert(folder, **more):
    return saved(BertForSequenceClassification(sized(BertConfig, **more)), folder)


def modern(folder, kind=ModernBertForSequenceClassification, labels=2):
    return saved(kind(ModernBertConfig(**MODERN, num_labels=labels)), folder)


def t5(folder):
    config = T5Config(
        vocab_size=tiny.SIZES["vocab_size"], d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=3,
    )  # fmt: skip
    return saved(T5ForConditionalGeneration(config), folder, marked("", "</s>"))


def classified(folder, *texts, label, kind=AutoModelForSequenceClassification):
    """p(label) as transformers gives it for the texts in this order."""
    inputs = AutoTokenizer.from_pretrained(folder)(*texts, return_tensors="pt")
    model = kind.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = model(**inputs).logits.float()
    scores = torch.softmax(logits, -1) if logits.shape[-1] > 1 else torch.sigmoid(logits)
    return scores[0, ..., label]


def scored(folder, row):
    (assessment,) = load_scorer(f"{row}={folder}", device="cpu").assess([PAIR])
    assert assessment.failure is None, assessment.failure_detail
    return assessment.score


TEMPLATE = (
    '{text_a}\n\nChoose your answer: based on the paragraph above can we conclude that "{text_b}"?'
    "\n\nOPTIONS:\n- Yes\n- No\nI think the answer is "
)


def joined(folder, doc, claim):
    """MiniCheck's `batch_tokenize`."""
    return AutoTokenizer.from_pretrained(folder).eos_token.join([doc, claim])


WRITTEN = {
    "factcg": (deberta, lambda _, a, b: [TEMPLATE.format(text_a=a, text_b=b)], 1),
    "minicheck-roberta": (roberta, lambda folder, a, b: [joined(folder, a, b)], 1),
    "minicheck-deberta": (deberta, lambda _, a, b: [f"{a}[SEP]{b}"], 1),
    "groundcheck": (modern, lambda _, a, b: [a, b], 0),
    "label-0": (bert, lambda _, a, b: [a, b], 0),
    "label-1": (bert, lambda _, a, b: [a, b], 1),
    "label-0-statement-first": (bert, lambda _, a, b: [b, a], 0),
    "label-1-statement-first": (bert, lambda _, a, b: [b, a], 1),
    "one-logit": (lambda f: bert(f, num_labels=1), lambda _, a, b: [a, b], 0),
    "reranker": (lambda f: roberta(f, num_labels=1), lambda _, a, b: [b, a], 0),
}
"""Row: how the tiny model is made, the texts as the authors give them to the tokenizer, and the
label that says yes."""


@pytest.mark.parametrize("row", WRITTEN)
def test_a_classifier_is_read_as_its_authors_read_it(row, tmp_path):
    made, texts, label = WRITTEN[row]
    folder = made(tmp_path / "weights")
    expected = float(classified(folder, *texts(folder, SOURCE, CLAIM), label=label))
    assert scored(folder, row) == pytest.approx(expected, abs=1e-5)
    turned = float(classified(folder, *texts(folder, CLAIM, SOURCE), label=label))
    assert turned != pytest.approx(expected, abs=1e-3), "the order of the texts must matter here"


@pytest.mark.parametrize("row", WRITTEN)
def test_the_other_order_of_the_texts_is_noticed(row, tmp_path, monkeypatch):
    """The mutant: each row with its texts exchanged gives another number than the authors'."""
    made, texts, label = WRITTEN[row]
    folder = made(tmp_path / "weights")
    expected = float(classified(folder, *texts(folder, SOURCE, CLAIM), label=label))
    head = ROWS[row]
    prompt = (
        head.prompt.replace("{text1}", "{}").replace("{text2}", "{text1}").replace("{}", "{text2}")
    )
    if head.prompt:
        from safepassage.scoring_worker.encoders.prompt_pieces import Prompt

        monkeypatch.setattr(
            Prompt, "written", lambda _, source, said: (prompt.format(text1=source, text2=said),)
        )
    else:
        monkeypatch.setitem(ROWS, row, replace(head, sentence_first=not head.sentence_first))
    assert scored(folder, row) != pytest.approx(expected, abs=1e-3)


BY_HUB_ID = {
    "ipoeyke/ragulator-deberta-v3-large": "label-0-statement-first",
    "potsawee/deberta-v3-large-mnli": "label-0-statement-first",
    "cross-encoder/nli-deberta-v3-base": "label-1",
    "vectara/hallucination_evaluation_model": "one-logit",  # version 1, by its commit
    "BAAI/bge-reranker-base": "reranker",
    "BAAI/bge-reranker-large": "reranker",
    "BAAI/bge-reranker-v2-m3": "reranker",
    "mixedbread-ai/mxbai-rerank-base-v1": "reranker",
    "mixedbread-ai/mxbai-rerank-large-v1": "reranker",
    "cross-encoder/ms-marco-MiniLM-L6-v2": "reranker",
    "yaxili96/FactCG-DeBERTa-v3-Large": "factcg",
    "lytang/MiniCheck-RoBERTa-Large": "minicheck-roberta",
    "lytang/MiniCheck-DeBERTa-v3-Large": "minicheck-deberta",
    "Pranshurs/groundcheck-modernbert": "groundcheck",
}


@pytest.mark.parametrize("named", BY_HUB_ID)
def test_a_hub_id_is_read_by_its_row(named, tmp_path, monkeypatch):
    """Of a version 1 of HEM, or a reranker, the order of the texts was in the table and in no
    test."""
    made, texts, label = WRITTEN[BY_HUB_ID[named]]
    folder = made(tmp_path / "weights")
    monkeypatch.setattr(folders, "base_folder", lambda *_: folder)
    (assessment,) = load_scorer(f"{named}@{'0' * 40}", device="cpu").assess([PAIR])
    expected = float(classified(folder, *texts(folder, SOURCE, CLAIM), label=label))
    assert assessment.score == pytest.approx(expected, abs=1e-5)


def test_flan_t5_answers_by_its_first_token(tmp_path, monkeypatch):
    """MiniCheck: softmax over the ids 3 and 209 of the first token after an empty beginning."""
    folder = t5(tmp_path / "t5")
    row = ROWS["minicheck-flan-t5"]
    assert row.answers == (3, 209)  # of T5's 32,128 words; the tiny one has 101
    monkeypatch.setitem(ROWS, "minicheck-flan-t5", replace(row, answers=(3, 99)))
    found = scored(folder, "minicheck-flan-t5")

    def expected(doc, claim):
        text = "predict: " + joined(folder, doc, claim)
        inputs = AutoTokenizer.from_pretrained(folder)([text], return_tensors="pt")
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
        with torch.no_grad():
            begun = torch.zeros((1, 1), dtype=torch.long)
            logits = model(**inputs, decoder_input_ids=begun).logits.squeeze(1)
        return float(torch.softmax(logits[:, torch.tensor([3, 99])], -1)[0, 1])

    assert found == pytest.approx(expected(SOURCE, CLAIM), abs=1e-5)
    assert found != pytest.approx(expected(CLAIM, SOURCE), abs=1e-3)


def hallucinated(folder, prompt, answer):
    """LettuceDetect's `_predict_single`: p(1) of each token of the answer, which end before the
    last separator."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    own = len(tokenizer(answer, add_special_tokens=False)["input_ids"])
    said = classified(folder, prompt, answer, label=1, kind=AutoModelForTokenClassification)
    return said[len(said) - own - 1 : -1]


def test_a_claim_is_as_supported_as_its_least_supported_token(tmp_path):
    folder = modern(tmp_path / "tokens", ModernBertForTokenClassification)
    prompt = "Summarize the following text:\npassage 1: {}\noutput:"
    expected = 1 - float(hallucinated(folder, prompt.format(SOURCE), CLAIM).max())
    assert scored(folder, "lettucedetect") == pytest.approx(expected, abs=1e-5)
    turned = 1 - float(hallucinated(folder, prompt.format(CLAIM), SOURCE).max())
    assert turned != pytest.approx(expected, abs=1e-3)
    plain = 1 - float(hallucinated(folder, SOURCE, CLAIM).max())
    assert scored(folder, "tokens-0") == pytest.approx(plain, abs=1e-5)
    assert plain != pytest.approx(expected, abs=1e-3)


def alignscore(folder, *, without=""):
    """RoBERTa under AlignScore's heads, as `BERTAlignModel` names them, in a checkpoint of
    Lightning; the model itself."""
    config = sized(RobertaConfig, max_position_embeddings=520, type_vocab_size=1, pad_token_id=0)
    torch.manual_seed(4)
    model = torch.nn.Module()
    model.base_model = RobertaModel(config)
    for name, labels in (("bin_layer", 2), ("tri_layer", 3), ("reg_layer", 1)):
        setattr(model, name, torch.nn.Linear(config.hidden_size, labels))
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=0.15 if "_layer." in name else 0.6)
    config.architectures = ["RobertaForMaskedLM"]
    config.save_pretrained(folder)
    marked("<s> ", "</s>", bos_token="<s>", cls_token="<s>", sep_token="</s>").save_pretrained(
        folder
    )
    state = {name: one for name, one in model.state_dict().items() if name != without}
    state["base_model.embeddings.position_ids"] = torch.arange(520)[None]  # of older transformers
    kept = {"state_dict": state, "hyper_parameters": {"model": "roberta-large"}, "epoch": 2}
    torch.save(kept, folder / "AlignScore-large.ckpt")
    return model.eval()


def aligned(model, folder, context, claim):
    """`Inferencer.inference`: the first of three labels over the pooled first token."""
    inputs = AutoTokenizer.from_pretrained(folder)(context, claim, return_tensors="pt")
    with torch.no_grad():
        pooled = model.base_model(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
        ).pooler_output
        return float(torch.softmax(model.tri_layer(pooled), -1)[0, 0])


def test_alignscore_is_read_from_its_checkpoint(tmp_path, monkeypatch):
    model = alignscore(tmp_path)
    expected = aligned(model, tmp_path, SOURCE, CLAIM)
    assert scored(tmp_path, "alignscore") == pytest.approx(expected, abs=1e-5)
    assert aligned(model, tmp_path, CLAIM, SOURCE) != pytest.approx(expected, abs=1e-3)
    mutant = replace(ROWS["alignscore"], sentence_first=True)
    monkeypatch.setitem(ROWS, "alignscore", mutant)
    assert scored(tmp_path, "alignscore") != pytest.approx(expected, abs=1e-3)


def test_a_checkpoint_that_is_no_alignscore_is_refused(tmp_path):
    alignscore(tmp_path, without="tri_layer.weight")
    with pytest.raises(ModelError, match="does not hold AlignScore"):
        load_scorer(f"alignscore={tmp_path}", device="cpu")
    (tmp_path / "AlignScore-large.ckpt").write_bytes(pickle.dumps({"state_dict": print}))
    with pytest.raises(ModelError, match="cannot read"):
        load_scorer(f"alignscore={tmp_path}", device="cpu")
    (tmp_path / "AlignScore-large.ckpt").unlink()
    with pytest.raises(ModelError, match="0 checkpoints"):
        load_scorer(f"alignscore={tmp_path}", device="cpu")


def test_weights_for_tokens_are_never_read_as_weights_for_sequences(tmp_path):
    """A ModernBERT for tokens has the weights of one for sequences, by name and size: it loaded,
    and gave a score that meant nothing. The architecture in its config decides."""
    labels = {0: "supported", 1: "hallucinated"}
    config = ModernBertConfig(
        **MODERN, id2label=labels, label2id={name: at for at, name in labels.items()}
    )
    folder = saved(ModernBertForTokenClassification(config), tmp_path / "tokens")
    expected = 1 - float(hallucinated(folder, SOURCE, CLAIM).max())
    (assessment,) = load_scorer(folder, device="cpu").assess([PAIR])
    assert assessment.score == pytest.approx(expected, abs=1e-5)
    with pytest.raises(ModelError, match="token classifier"):
        load_full(folder, torch.float32)


@pytest.mark.parametrize(
    ("row", "made"),
    [
        ("lettucedetect", bert),
        ("label-1", t5),
        ("minicheck-flan-t5", bert),
        ("factcg", lambda folder: modern(folder, ModernBertForTokenClassification)),
    ],
)
def test_weights_of_another_kind_than_the_row_are_refused(row, made, tmp_path):
    with pytest.raises(ModelError, match=r"classifier|no head|holds a|cannot load"):
        load_scorer(f"{row}={made(tmp_path / 'other')}", device="cpu")


def test_a_head_that_is_missing_is_an_error(tmp_path):
    """An encoder alone, whatever its config says, has no head to score with."""
    from transformers import BertModel

    config = sized(BertConfig)
    folder = saved(BertModel(config), tmp_path / "encoder")
    with pytest.raises(ModelError, match="BertModel"):
        load_scorer(f"label-1={folder}", device="cpu")
    own = config.to_dict() | {"architectures": ["BertForSequenceClassification"]}
    BertConfig.from_dict(own).save_pretrained(folder)
    with pytest.raises(ModelError, match="classifier"):
        load_scorer(f"label-1={folder}", device="cpu")
    whole = saved(BertForTokenClassification(config), tmp_path / "tokens")
    with pytest.raises(ModelError, match=r"cannot tell|label-0="):
        load_scorer(whole, device="cpu")


def test_training_never_starts_from_an_encoder_drawn_at_random(tmp_path):
    """A head of its own, and a layer that the checkpoint lacks: torch would have drawn it."""
    from safetensors.torch import load_file, save_file

    folder = bert(tmp_path / "whole")
    path = folder / "model.safetensors"
    whole = load_file(path)
    load_with_new_head(folder)
    pooler = {n: w for n, w in whole.items() if "pooler" not in n}
    save_file(pooler, path, {"format": "pt"})
    load_with_new_head(folder)
    save_file({n: w for n, w in whole.items() if "layer.1." not in n}, path, {"format": "pt"})
    with pytest.raises(ModelError, match="draw"):
        load_with_new_head(folder)
    narrow = {n: w[:5].clone() if "word_embeddings" in n else w for n, w in whole.items()}
    save_file(narrow, path, {"format": "pt"})
    with pytest.raises(ModelError, match="draw"):
        load_with_new_head(folder)


def test_one_logit_needs_to_be_told_its_order(tmp_path):
    folder = bert(tmp_path / "one", num_labels=1)
    with pytest.raises(ModelError, match="reranker="):
        load_scorer(folder, device="cpu")
    with pytest.raises(ModelError, match="no layout 'rerankers'"):
        load_scorer(f"rerankers={folder}", device="cpu")


@pytest.mark.parametrize("row", ["minicheck-deberta", "lettucedetect"])
def test_a_long_source_is_cut_into_windows_and_the_statement_stays_whole(row, tmp_path):
    kinds = {"minicheck-deberta": deberta}
    made = kinds.get(row, lambda f: modern(f, ModernBertForTokenClassification))
    scorer = load_scorer(f"{row}={made(tmp_path / 'w')}", device="cpu")
    long = " ".join([SOURCE] * 120)
    pieces, failures = scorer.encoder._tokenizer.pieces([(0, long, CLAIM)])
    assert not failures
    assert len(pieces) > 1
    assert all(len(piece) <= scorer.encoder.max_length for piece in pieces)
    words = AutoTokenizer.from_pretrained(tmp_path / "w")
    claim = words(CLAIM, add_special_tokens=False)["input_ids"]
    assert all(piece.ids[-len(claim) - 1 : -1] == claim for piece in pieces)
    whole = words(long, add_special_tokens=False)["input_ids"]
    body = [piece.ids for piece in pieces]
    assert whole[:20] == body[0][body[0].index(whole[0]) :][:20] or row == "lettucedetect"
    (assessment,) = scorer.assess([tiny.pair(long, "40", "Rent")])
    assert assessment.score is not None


def test_a_copy_with_thresholds_of_its_own_is_read_in_the_same_layout(tmp_path):
    """The manifest names the row, so that a calibrated folder reads its weights as before."""
    folder = deberta(tmp_path / "weights")
    first = load_scorer(f"factcg={folder}", device="cpu")
    first.manifest.model_copy(update={"name": "mine"}).save(folder)
    assert ScorerManifest.load(folder).layout == "factcg"
    (again,) = load_scorer(folder, device="cpu").assess([PAIR])
    assert again.score == first.assess([PAIR])[0].score


def test_every_row_is_tested_here():
    others = {"lettucedetect", "tokens-0", "minicheck-flan-t5", "alignscore"}
    others |= {"hhem"}  # in test_baselines
    assert set(WRITTEN) | others == set(ROWS)
    others = {"bunsenfeng/FactKB", "FacebookAI/roberta-large-mnli"}  # in test_published
    by_other_tests = {"lytang/MiniCheck-Flan-T5-Large"} | {n for n in HEADS if "lettuce" in n}
    assert set(BY_HUB_ID) | others | by_other_tests == set(HEADS)
    assert {HEADS[named] for named in by_other_tests} == {
        ROWS["lettucedetect"],
        ROWS["minicheck-flan-t5"],
    }
