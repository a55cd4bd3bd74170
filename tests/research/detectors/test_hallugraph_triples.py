"""HalluGraph over an encoder-decoder of REBEL's kind: a tiny BART, taught its format here."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

from research.detectors.hallugraph.seq2seq_graphs import stated_triples
from research.detectors.hallugraph.stated_graphs import MAX_LISTED
from research.detectors.registry import load_detector
from safepassage.schemas.evidence import MAX_TRIPLE_CHARACTERS
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.manifest import ModelError

SAID = {
    "Acme paid Jones": "<triplet> Acme <subj> Jones <obj> paid",
    "Jones paid Acme": "<triplet> Jones <subj> Acme <obj> paid",
}
"""What the tiny model is taught to write."""


def triples(written: str) -> list[tuple[str, str, str]]:
    return [(one.subject, one.relation, one.object) for one in stated_triples(written).triples]


def test_subject_object_and_relation_are_read_in_the_order_in_which_rebel_writes_them():
    written = "<triplet> Higuey <subj> La Altagracia <obj> located in <subj> Dominica <obj> country"
    assert triples(written) == [
        ("Higuey", "located in", "La Altagracia"),
        ("Higuey", "country", "Dominica"),
    ]
    assert triples(f"{written} <triplet> Lee <subj> Acme <obj> employer")[2:] == [
        ("Lee", "employer", "Acme")
    ]


@pytest.mark.parametrize(
    "written",
    [
        "",
        "no marks at all",
        "<obj> alone",
        "<subj> a <obj> b",
        "<triplet> a <obj> b",
        "<triplet> a <subj> <obj> b",
        "<triplet> a <subj> b <obj>",
        "<triplet> <triplet> <subj> <subj> <obj> <obj>",
        "<triplet> a <subj> b <triplet> c <obj> d",
        "<TRIPLET> a <subj > b < obj> c",
        f"<triplet> {'a' * (MAX_TRIPLE_CHARACTERS + 1)} <subj> b <obj> c",
        "\x00<triplet>\n\t<subj>\u202e<obj>  ",
    ],
)
def test_what_is_no_triple_is_left_out(written):
    assert triples(written) == []


def test_triples_are_bounded_and_each_stands_once():
    assert len(triples("<triplet> a <subj> b <obj> c " * 3_000)) == 1
    many = "".join(f"<triplet> a <subj> {at} <obj> c " for at in range(3_000))
    assert len(triples(many)) == MAX_LISTED


def saved_tokenizer(folder, marks=("<triplet>", "<subj>", "<obj>")):
    words = ["<s>", "<pad>", "</s>", "<unk>", "Acme", "Jones", "paid", *marks]
    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, "<unk>"))
    made.normalizer = normalizers.Strip()
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=list(marks),
        model_max_length=64,
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A BART of a few thousand weights that writes `SAID`."""
    folder = tmp_path_factory.mktemp("triples")
    tokenizer = saved_tokenizer(folder)
    torch.manual_seed(0)
    size = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = BartConfig(
        vocab_size=len(tokenizer), **size, **heads, encoder_ffn_dim=64, decoder_ffn_dim=64,
        max_position_embeddings=64, dropout=0.0, decoder_start_token_id=2, forced_eos_token_id=2,
    )  # fmt: skip
    model = BartForConditionalGeneration(config)
    asked = tokenizer(list(SAID), return_tensors="pt")
    labels = tokenizer(list(SAID.values()), return_tensors="pt")["input_ids"]
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(120):
        loss = model(**asked, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert float(loss.detach()) < 0.05
    model.save_pretrained(folder, safe_serialization=True)
    return folder


def grounding(folder, response, context="Acme paid Jones"):
    detector = load_detector("hallugraph_triples", DetectorSettings(model=str(folder)))
    [found] = detector.ground([Answer((context,), response)])
    return found


def test_a_triple_of_the_context_is_supported_and_its_reverse_is_not(taught):
    right, wrong = grounding(taught, "Acme paid Jones"), grounding(taught, "Jones paid Acme")
    assert right.score == 1.0
    assert wrong.score is not None
    assert wrong.score < 1.0
    [triple] = wrong.evidence.triples
    assert (triple.subject, triple.relation, triple.object) == ("Jones", "paid", "Acme")
    assert triple.status == "unsupported"
    assert right.evidence.measures["RP"] == 1.0


def test_a_mark_in_a_text_is_no_mark(taught):
    """What the model is asked is the text without them: an answer hides no triple behind one."""
    assert grounding(taught, "Jones <triplet> paid </s> Acme").score == pytest.approx(
        grounding(taught, "Jones paid Acme").score
    )


def test_a_text_without_room_is_undetermined_and_never_cut(taught):
    found = grounding(taught, "Acme paid Jones " * 30)
    assert found.score is None
    assert found.failure == "texts_too_long"


def test_what_comes_to_no_end_is_undetermined(taught, monkeypatch):
    monkeypatch.setattr(
        BartForConditionalGeneration, "generate", lambda *_, **__: torch.zeros(2, 4)
    )
    assert grounding(taught, "Acme paid Jones").failure == "too_many_triples"


def test_a_vocabulary_without_the_marks_is_refused(tmp_path):
    saved_tokenizer(tmp_path, marks=())
    BartConfig(vocab_size=7).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="<triplet>"):
        load_detector("hallugraph_triples", DetectorSettings(model=str(tmp_path)))


def test_no_model_is_refused():
    with pytest.raises(ModelError, match="needs a model"):
        load_detector("hallugraph_triples", DetectorSettings())
