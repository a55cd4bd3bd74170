"""A cross-encoder fine-tuned on windows, tiny, and the detector that loads it."""

import pytest

from research.curation import CuratedPair
from research.detectors.registry import load_detector
from research.ragulator_training.encoder import train_encoder
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.training.fine_tuning import FineTuning
from tests.scoring_worker.tiny import bert

QUICK = FineTuning(batch=8, epochs=6, base_rate=3e-3, head_rate=3e-3, max_length=64)


def _pairs(count: int = 32) -> list[CuratedPair]:
    """Grounded where the context says "yes": a rule that a tiny model learns."""
    made = []
    for n in range(count):
        grounded = n % 2 == 0
        context = f"it says {'yes yes' if grounded else 'no no'}."
        made.append(CuratedPair(str(n), context, "it is so.", grounded, str(n), "own", "made"))
    return made


def test_the_recipe_is_that_of_the_paper():
    recipe = FineTuning()
    assert (recipe.batch, recipe.epochs, recipe.warmup) == (16, 3, 0.1)
    assert (recipe.base_rate, recipe.head_rate) == (5e-6, 2e-5)


def test_it_learns_and_loads_as_a_detector(tmp_path):
    base = bert(tmp_path / "base", labels={0: "grounded"})
    losses = train_encoder(base, _pairs(), tmp_path / "made", lambda *_: None, QUICK)
    assert losses[-1] < losses[0]
    assert not [path for path in (tmp_path / "made").iterdir() if path.suffix in (".bin", ".pt")]
    settings = DetectorSettings(model=str(tmp_path / "made"), threads=1)
    detector = load_detector("ragulator-encoder", settings)
    said_yes, said_no = detector.ground(
        [
            Answer(("it says no no.", "it says yes yes."), "it is so."),
            Answer(("it says no no.",), "it is so."),
        ]
    )
    assert said_yes.score > said_no.score
    assert said_yes.claims[0].passages[0].passage == 1


def test_what_cannot_be_learnt_from_is_refused(tmp_path):
    base = bert(tmp_path / "base", labels={0: "grounded"})
    with pytest.raises(ValueError, match="one label"):
        train_encoder(base, _pairs()[::2], tmp_path / "made", lambda *_: None, QUICK)
    long = [*_pairs(), CuratedPair("l", "a b " * 60, "it is so.", True, "l", "own", "made")]
    with pytest.raises(ModelError, match="more than 64 tokens"):
        train_encoder(base, long, tmp_path / "made", lambda *_: None, QUICK)


def test_without_a_model_the_detector_says_how_to_get_one():
    with pytest.raises(ModelError, match="ragulator train"):
        load_detector("ragulator-encoder", DetectorSettings())
