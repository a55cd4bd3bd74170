"""`Verifier.learn`: counts at once, is kept in a file, and the file is trusted only whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from safepassage import Extraction, Verifier
from safepassage.memory import DecisionMemory
from safepassage.schemas import Verdict
from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.memory.file import MemoryFileError
from tests.scoring_worker.tiny import reader_scorer

from .scorers import WordScorer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reader_scorer(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def verifier(folder: Path, tmp_path: Path) -> Iterator[Verifier]:
    with Verifier(load_scorer(folder, device="cpu"), memory=tmp_path / "memory.json") as made:
        yield made


def rent(verifier: Verifier, number: int, quote: str | None = None) -> Verdict:
    """The verdict on a deposit that is given as the rent."""
    text = f"rent: {2000 + number} a month. deposit: {700 + number}"
    extraction = Extraction("Rent", str(700 + number), quote=quote or text)
    return verifier.verify(text, [extraction]).verdicts[0]


def test_what_was_learnt_counts_for_the_next_and_can_be_taken_back(verifier: Verifier):
    before, first = rent(verifier, 2), rent(verifier, 1)
    assert verifier.learn(first, supported=False)
    after = rent(verifier, 2)
    assert after.memory is not None
    assert after.score < before.score
    assert verifier.memory.forget(first)
    assert not verifier.memory.forget(first)
    assert rent(verifier, 2) == before


def test_a_file_brings_back_the_same_verdicts(verifier: Verifier, folder: Path, tmp_path: Path):
    verifier.learn(rent(verifier, 1), supported=False)
    verifier.learn(rent(verifier, 3), supported=False, value="2003", reviewer="ana")
    wanted = rent(verifier, 2)
    again = load_scorer(folder, device="cpu")
    with Verifier(again, memory=tmp_path / "memory.json") as other:
        assert len(other.memory) == 2
        assert rent(other, 2) == wanted


def test_another_scorer_makes_its_own_of_the_decisions(verifier: Verifier, tmp_path: Path):
    verifier.learn(rent(verifier, 1), supported=False)
    other = load_scorer(reader_scorer(tmp_path / "other", seed=5, name="other"), device="cpu")
    with Verifier(other, memory=tmp_path / "memory.json") as changed:
        after = rent(changed, 2)
        assert after.memory is not None
        assert after.memory.snapshot != rent(verifier, 2).memory.snapshot


@pytest.mark.parametrize("damage", ["supported", "truncated", "no JSON"])
def test_a_file_that_was_changed_is_refused(verifier: Verifier, tmp_path: Path, damage: str):
    path = tmp_path / "memory.json"
    verifier.learn(rent(verifier, 1), supported=False)
    content = path.read_text(encoding="utf-8")
    if damage == "supported":
        told = json.loads(content)
        told["decisions"][0]["votes"][0]["supported"] = True
        content = json.dumps(told)
    path.write_text(content[: len(content) // 2] if damage == "truncated" else content)
    if damage == "no JSON":
        path.write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(MemoryFileError, match="was changed"):
        DecisionMemory(path)


def test_two_who_differ_count_for_nobody(verifier: Verifier):
    before, first = rent(verifier, 2), rent(verifier, 1)
    verifier.learn(first, supported=False, reviewer="ana")
    verifier.learn(first, supported=True, reviewer="ben")
    after = rent(verifier, 2)
    assert after.memory is not None
    assert after.memory.cases[0].supported is None
    assert abs(after.score - before.score) < 0.05
    verifier.learn(first, supported=False, reviewer="ben")
    assert rent(verifier, 2).memory.cases[0].supported is False


def test_what_cannot_be_remembered_says_so(verifier: Verifier):
    lost = rent(verifier, 1, quote="nothing that stands anywhere in the text at all")
    assert not verifier.learn(lost, supported=False)
    with pytest.raises(ValueError, match="no correction"):
        verifier.learn(rent(verifier, 1), supported=True, value="9")


def test_a_scorer_without_a_memory_is_refused_where_one_is_wanted():
    with pytest.raises(ValueError, match="has no memory"):
        Verifier(WordScorer(), memory=DecisionMemory())
    with Verifier(WordScorer()) as plain, pytest.raises(ValueError, match="has no memory"):
        plain.learn(rent(plain, 1), supported=False)
