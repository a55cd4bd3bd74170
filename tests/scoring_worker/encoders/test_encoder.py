"""The encoder runtime: same scores in every batch, failures of one pair alone, no truncation."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from safepassage.scoring_worker.encoders.batching import MAX_WINDOWS, PairTokenizer, tiles
from safepassage.scoring_worker.encoders.devices import one_thread_each, place
from safepassage.scoring_worker.encoders.encoder import Encoder
from safepassage.scoring_worker.encoders.packed import PackedBert
from safepassage.scoring_worker.encoders.padded import PaddedForward
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker import tiny

WORDS = [
    "the",
    "panel",
    "of",
    "may",
    "4",
    "2015",
    "heard",
    "counsel",
    "for",
    "john",
    "smith,",
    "at",
    "ottawa",
]


def texts(count, seed=0, longest=9):
    chooser = random.Random(seed)
    premises = [
        " ".join(chooser.choices(WORDS, k=chooser.randint(1, longest))) for _ in range(count)
    ]
    return premises, [f"date: {chooser.randint(1990, 2024)}" for _ in range(count)]


def load(folder):
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    return model, AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def bert_folder(tmp_path_factory):
    return tiny.bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def deberta_folder(tmp_path_factory):
    return tiny.deberta(tmp_path_factory.mktemp("deberta"))


@pytest.fixture(scope="module")
def untyped_folder(tmp_path_factory):
    return tiny.bert(tmp_path_factory.mktemp("untyped"), typed=False)


@pytest.fixture(params=["bert_folder", "deberta_folder"])
def encoder(request):
    return load_scorer(request.getfixturevalue(request.param), device="cpu").encoder


def reference(folder, premises, hypotheses):
    """One pair at a time through transformers alone."""
    model, tokenizer = load(folder)
    with torch.inference_mode():
        return np.array(
            [
                model(**tokenizer(p, h, return_tensors="pt")).logits.softmax(-1)[0, 1].item()
                for p, h in zip(premises, hypotheses, strict=True)
            ]
        )


@pytest.mark.parametrize("kind", ["bert_folder", "deberta_folder", "untyped_folder"])
def test_scores_are_those_of_transformers(kind, request):
    """Packing, tiling and sorting change nothing but the speed."""
    folder = request.getfixturevalue(kind)
    premises, hypotheses = texts(40)
    ours = load_scorer(folder, device="cpu").encoder.probabilities(premises, hypotheses)
    np.testing.assert_allclose(ours, reference(folder, premises, hypotheses), atol=1e-5)
    assert ours.std() > 0.01, "a model that answers the same to everything tests nothing"


def test_a_score_does_not_depend_on_its_batch(encoder):
    """Alone, in any order, beside any others: within 1e-5, and equal bits when packed."""
    premises, hypotheses = texts(90)
    together = encoder.probabilities(premises, hypotheses)
    order = random.Random(1).sample(range(90), 90)
    for part in ([0], order[:7], order[7:60], order):
        scores = encoder.probabilities([premises[i] for i in part], [hypotheses[i] for i in part])
        np.testing.assert_allclose(scores, together[part], atol=1e-5)
        if encoder._packed:
            assert (scores == together[part]).all()


def test_packed_logits_are_equal_to_the_last_bit(bert_folder):
    """With a thread to itself, not even the last digit depends on the company, unrounded."""
    model, tokenizer = load(bert_folder)
    packed = PackedBert(model)
    pieces, _ = PairTokenizer(tokenizer.backend_tokenizer, 64).pieces(
        list(zip(range(60), *texts(60, seed=3), strict=True))
    )
    with one_thread_each(), torch.inference_mode():
        alone = {piece.pair: packed.logits([piece])[0] for piece in pieces}
        for seed in range(3):
            mixed = random.Random(seed).sample(pieces, 25)
            for tile in tiles(mixed, 512, rows=64, packed=True):
                for piece, row in zip(tile, packed.logits(tile), strict=True):
                    assert torch.equal(row, alone[piece.pair])


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_score_does_not_depend_on_the_cores(bert_folder, precision):
    """One tile after the other or three at once, with however many threads: equal bits."""
    premises, hypotheses = texts(150)
    before = torch.get_num_threads()
    try:
        one, three = (
            load_scorer(bert_folder, device="cpu", precision=precision, threads=threads).encoder
            for threads in (1, 3)
        )
        alone = one.probabilities(premises, hypotheses)
        beside = three.probabilities(premises, hypotheses)
        assert torch.get_num_threads() == 3, "the setting was put back"
    finally:
        torch.set_num_threads(before)
    assert (alone == beside).all()


def test_equal_pairs_are_computed_once(encoder, monkeypatch):
    """The same question asked a hundred times costs one forward pass of one piece."""
    seen = []
    compute = encoder._lanes._compute
    monkeypatch.setattr(
        encoder._lanes, "_compute", lambda tile: seen.append(len(tile)) or compute(tile)
    )
    scores = encoder.probabilities(["may 4"] * 100, ["date: may 4"] * 100)
    assert seen == [1]
    assert len(set(scores)) == 1


class Broken:
    """A forward pass that fails wherever the token of "z" is in the batch."""

    def __init__(self, inner, outcome, marker):
        self.inner, self.outcome, self.marker = inner, outcome, marker

    def logits(self, tile):
        if any(self.marker in piece.ids for piece in tile):
            if isinstance(self.outcome, Exception):
                raise self.outcome
            return torch.full((len(tile), 3), self.outcome)
        return self.inner.logits(tile)


@pytest.mark.parametrize(
    ("outcome", "reason", "detail"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "scorer_failed", "out of memory"),
        (MemoryError(), "scorer_failed", "out of memory"),
        (RuntimeError("kernel failed"), "scorer_failed", "kernel failed"),
        (IndexError("index out of range"), "scorer_failed", "out of range"),
        (float("nan"), "score_not_finite", "not finite"),
        (float("inf"), "score_not_finite", "not finite"),
    ],
)
def test_one_bad_pair_fails_alone(encoder, outcome, reason, detail):
    """Out of memory, NaN or any failure of a batch is halved down to the guilty pair."""
    premises, hypotheses = texts(33)
    expected = encoder.probabilities(premises, hypotheses)
    marker = encoder._tokenizer._pairs._tokenizer.token_to_id("z")
    encoder._forward = Broken(encoder._forward, outcome, marker)
    scores = encoder.score([*premises[:20], "z", *premises[20:]], [*hypotheses, "date: 1"])
    assert list(scores.failures) == [20]
    assert scores.failures[20].reason == reason
    assert detail in scores.failures[20].detail
    assert np.isnan(scores.probabilities[20])
    kept = np.delete(scores.probabilities, 20)
    np.testing.assert_allclose(kept[:20], expected[:20], atol=1e-5)


def test_a_missing_row_is_a_failure_and_not_a_shift(encoder):
    """A model that answers with too few rows is not believed about any of them."""

    class Short:
        def logits(self, tile):
            return torch.zeros(len(tile) - 1, 3)

    encoder._forward = Short()
    scores = encoder.score(["may", "june"], ["date: may", "date: june"])
    assert np.isnan(scores.probabilities).all()
    assert {failure.reason for failure in scores.failures.values()} == {"scorer_failed"}


def test_a_long_premise_is_read_to_its_end(encoder):
    """The score is that of the best window, and the last words of the premise count."""
    filler, hypothesis = "of " * 60, "date: 2015"
    windows = encoder._tokenizer.pieces([(0, filler + "may 2015", hypothesis)])[0]
    assert len(windows) > 1
    assert all(len(window) <= encoder.max_length for window in windows)
    first, second = (encoder.probabilities([filler + end], [hypothesis])[0] for end in "ab")
    cut = encoder.probabilities([filler], [hypothesis])[0]
    assert np.isfinite([first, second, cut]).all()
    assert len({first, second, cut}) > 1, "the end of the premise was not read"


@pytest.mark.parametrize(
    ("premise", "hypothesis", "detail"),
    [
        ("may", "date: " + "x" * 70, "the hypothesis takes"),
        ("of " * 2000, "date: 1", f"more than {MAX_WINDOWS}"),
        ("", "date: 1", "the premise is empty"),
        (" \n", "date: 1", "the premise is empty"),
        ("may", "", "the hypothesis is empty"),
        ("may \ud800", "date: 1", "not valid Unicode"),
    ],
)
def test_what_cannot_be_read_whole_is_not_scored(encoder, premise, hypothesis, detail):
    """Nothing is truncated into an answer, and the pair beside it is not harmed."""
    scores = encoder.score([premise, "may 4"], [hypothesis, "date: 4"])
    assert list(scores.failures) == [0]
    assert detail in scores.failures[0].detail
    assert np.isnan(scores.probabilities[0])
    assert np.isfinite(scores.probabilities[1])


def test_a_document_cannot_write_special_tokens(bert_folder):
    """ "[SEP]" in a passage is five characters, not the end of the premise."""
    _, tokenizer = load(bert_folder)
    pieces, _ = PairTokenizer(tokenizer.backend_tokenizer, 64).pieces(
        [(0, "a [SEP] date: 1 [CLS] [PAD]", "date: 2")]
    )
    assert pieces[0].ids.count(tokenizer.sep_token_id) == 2
    assert pieces[0].ids.count(tokenizer.cls_token_id) == 1
    assert tokenizer.pad_token_id not in pieces[0].ids


def test_premises_and_hypotheses_must_match(encoder):
    """A caller's mistake is an error, not a shorter answer."""
    with pytest.raises(ValueError, match="shorter"):
        encoder.probabilities(["a", "b"], ["c"])


def test_no_pairs_give_no_scores(encoder):
    """An empty batch is not an error."""
    assert encoder.probabilities([], []).shape == (0,)


@settings(max_examples=25, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 40), max_size=30),
    budget=st.integers(8, 100),
    packed=st.booleans(),
)
def test_tiles_hold_every_piece_once_within_the_budget(lengths, budget, packed):
    """Whatever the lengths: nothing is lost, nothing twice, and the budget holds."""
    from safepassage.scoring_worker.encoders.batching import Piece

    pieces = [Piece(at, [1] * length, [0] * length) for at, length in enumerate(lengths)]
    made = tiles(pieces, budget, rows=5, packed=packed)
    assert sorted(piece.pair for tile in made for piece in tile) == list(range(len(lengths)))
    for tile in made:
        sizes = [len(piece) for piece in tile]
        assert len(tile) == 1 or (sum(sizes) if packed else max(sizes) * len(tile)) <= budget
        assert len(tile) <= 5


def test_tokenising_in_chunks_changes_nothing(encoder, monkeypatch):
    """The pipeline over chunks gives the scores of one chunk."""
    premises, hypotheses = texts(30)
    whole = encoder.probabilities(premises, hypotheses)
    monkeypatch.setattr("safepassage.scoring_worker.encoders.encoder.TOKENISED_AHEAD", 7)
    np.testing.assert_allclose(encoder.probabilities(premises, hypotheses), whole, atol=1e-5)


def test_bf16_stays_close_and_marks_the_revision(bert_folder):
    """Another precision is another revision, since it is another score."""
    exact = load_scorer(bert_folder, device="cpu")
    rough = load_scorer(bert_folder, device="cpu", precision="bf16")
    premises, hypotheses = texts(20)
    np.testing.assert_allclose(
        rough.encoder.probabilities(premises, hypotheses),
        exact.encoder.probabilities(premises, hypotheses),
        atol=0.1,
    )
    assert rough.revision == f"{exact.revision}-bf16"


@pytest.mark.parametrize("machine", ["int8", "fp32", "bf16"])
def test_the_revision_does_not_depend_on_what_a_machine_does_best(
    bert_folder, monkeypatch, machine
):
    """A release made on x86 names the same scorer to a GPU worker: else it would not start."""
    exact = load_scorer(bert_folder, device="cpu")
    monkeypatch.setattr(
        "safepassage.scoring_worker.encoders.devices._automatic", lambda *_: machine
    )
    best = place("cpu", "auto", on_cpu="int8")
    assert (best.precision, best.demanded) == (machine, False)
    monkeypatch.setattr(exact.encoder, "placement", best)
    assert exact.encoder.revision_of(exact.manifest) == exact.manifest.revision


def test_the_default_scores_alike_in_every_batch():
    """The shipped weights, at full size: alone, in parts and in any order, equal bits."""
    scorer = load_scorer("default", device="cpu")
    premises, hypotheses = texts(24, longest=30)
    pairs = [
        tiny.pair(premise, hypothesis.removeprefix("date: "))
        for premise, hypothesis in zip(premises, hypotheses, strict=True)
    ]
    together = [assessment.score for assessment in scorer.assess(pairs)]
    assert all(score is not None for score in together)
    order = random.Random(2).sample(range(24), 24)
    for part in ([0], order[:9], order):
        assert [a.score for a in scorer.assess([pairs[at] for at in part])] == [
            together[at] for at in part
        ]


def test_int8_does_not_depend_on_the_batch_either(bert_folder):
    """Each token has its own scale: equal bits in any company, close to fp32, marked as such."""
    exact = load_scorer(bert_folder, device="cpu")
    rough = load_scorer(bert_folder, device="cpu", precision="int8")
    premises, hypotheses = texts(90)
    together = rough.encoder.probabilities(premises, hypotheses)
    order = random.Random(1).sample(range(90), 90)
    for part in ([0], order[:7], order[7:60]):
        scores = rough.encoder.probabilities(
            [premises[i] for i in part], [hypotheses[i] for i in part]
        )
        assert (scores == together[part]).all()
    difference = np.abs(together - exact.encoder.probabilities(premises, hypotheses))
    assert 0 < difference.max() < 0.1
    assert rough.revision == f"{exact.revision}-int8"


def test_int8_is_refused_where_it_does_not_exist(deberta_folder):
    """Models without the packed forward pass have no int8."""
    with pytest.raises(ModelError, match="int8 is for BERT"):
        load_scorer(deberta_folder, device="cpu", precision="int8")


def test_padded_forward_serves_models_with_token_types(bert_folder):
    """The general forward pass agrees with the packed one on the same model."""
    model, tokenizer = load(bert_folder)
    pieces, _ = PairTokenizer(tokenizer.backend_tokenizer, 64).pieces(
        list(zip(range(9), *texts(9), strict=True))
    )
    with torch.inference_mode():
        padded = PaddedForward(model, 0).logits(pieces)
        packed = PackedBert(model).logits(pieces)
    torch.testing.assert_close(padded, packed, atol=1e-5, rtol=1e-5)


def test_an_encoder_takes_turns(bert_folder):
    """Two threads get the scores that one gets."""
    from concurrent.futures import ThreadPoolExecutor

    model, tokenizer = load(bert_folder)
    encoder = Encoder(model, tokenizer, entailment=1, max_length=64, placement=place("cpu"))
    asked = [texts(20, seed) for seed in range(4)]
    alone = [encoder.probabilities(*pairs) for pairs in asked]
    with ThreadPoolExecutor(4) as pool:
        for scores, expected in zip(
            pool.map(lambda pairs: encoder.probabilities(*pairs), asked), alone, strict=True
        ):
            assert (scores == expected).all()
