"""Promote, refuse, roll back: who decides changes only with evidence, and can be undone."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from safepassage.schemas import Document, Review
from safepassage.scoring_worker.learnt_from import LearntFrom, more_learnt
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.release import promotion
from safepassage.streams.release.promotion import Incumbent, Signature
from safepassage.streams.release.promotion_bounds import Bounds
from safepassage.streams.release.releases import ReleaseRefused, releases_in_force
from safepassage.streams.settings import Settings
from safepassage.streams.topics import REVIEWS
from tests.streams.judged import SENTENCE, FakeScorer, publish, verdict

from .test_live_scorer import shelf

SIGNED = Signature("Ada", "a test")
BOUNDS = Bounds(min_labels=3)
# The old one lets everything pass that its checksum allows; the new one knows which are wrong.
NUMBERS = [n for n in range(80) if verdict(n).decision == "accepted"][:16]
WRONG = frozenset(f"May {n}" for n in NUMBERS[::2])
OLD = FakeScorer("old", "old-1")
NEW = FakeScorer("new", "new-1", stop=WRONG)


async def reviewed(kafka: Settings) -> Settings:
    """A live scorer "old", and reviews by a person who knows better."""
    reviews = [
        Review(
            id=f"review-{n}",
            verdict=verdict(n),
            decision="insufficient" if f"May {n}" in WRONG else "supports",
            reviewer="Ada",
            decided_at=datetime(2026, 1, 1 + position, tzinfo=UTC),
        )
        for position, n in enumerate(NUMBERS)
    ]
    await publish(kafka, REVIEWS, reviews, key="doc")
    return kafka.model_copy(update={"scorer": "old"})


async def attempt(settings: Settings, candidate: str) -> tuple[Incumbent, bool]:
    """Judge the candidate on the reviews, and promote it if it passes."""
    cases = await promotion.reviewed_gold(settings)
    live, result = await hold_against(settings, candidate, cases, BOUNDS, shelf(OLD, NEW))
    if result.passed:
        await promotion.promote(settings, live, result, candidate, SIGNED)
    return live, result.passed


async def hold_against(settings, candidate, cases, bounds, load):
    live = await promotion.incumbent(settings)
    return live, promotion.judged_against(live, candidate, cases, bounds, load)


async def test_better_scorer_is_promoted_and_rolled_back(kafka: Settings):
    settings = await reviewed(kafka)
    live, passed = await attempt(settings, "new")
    assert (live, passed) == (Incumbent("old", None), True)
    release = (await releases_in_force(settings)).releases["live"]
    assert (release.scorer, release.revision) == ("new", "new-1")
    assert (release.previous, release.previous_revision) == ("old", "old-1")
    assert release.released_by == "Ada"
    restored = await promotion.rollback(settings, SIGNED)
    assert (restored.scorer, restored.revision) == ("old", "old-1")
    assert await promotion.incumbent(settings) == Incumbent("old", "old-1")


async def test_rollback_is_not_rolled_back(kafka: Settings):
    settings = await reviewed(kafka)
    with pytest.raises(ReleaseRefused, match="nothing was promoted yet"):
        await promotion.rollback(settings, SIGNED)
    await attempt(settings, "new")
    await promotion.rollback(settings, SIGNED)
    with pytest.raises(ReleaseRefused, match="was a rollback"):
        await promotion.rollback(settings, SIGNED)


async def test_worse_scorer_is_refused_and_nothing_changes(kafka: Settings):
    settings = (await reviewed(kafka)).model_copy(update={"scorer": "new"})
    live, passed = await attempt(settings, "old")
    assert (live.name, passed) == ("new", False)
    assert not (await releases_in_force(settings)).releases


async def test_refused_result_cannot_be_promoted(kafka: Settings):
    settings = (await reviewed(kafka)).model_copy(update={"scorer": "new"})
    cases = await promotion.reviewed_gold(settings)
    load = shelf(OLD, NEW)
    live, result = await hold_against(settings, "old", cases, BOUNDS, load)
    with pytest.raises(ReleaseRefused, match="nothing was changed"):
        await promotion.promote(settings, live, result, "old", SIGNED)


async def test_comparison_with_a_former_incumbent_is_void(kafka: Settings):
    settings = await reviewed(kafka)
    cases = await promotion.reviewed_gold(settings)
    load = shelf(OLD, NEW)
    live, result = await hold_against(settings, "new", cases, BOUNDS, load)
    await attempt(settings, "new")
    with pytest.raises(ReleaseRefused, match="meanwhile"):
        await promotion.promote(settings, live, result, "new", SIGNED)


async def test_candidate_is_not_tested_on_what_it_learnt_from(kafka: Settings):
    settings = await reviewed(kafka)
    cases = await promotion.reviewed_gold(settings)
    learnt = cases[0].group
    seen = replace(NEW, learnt_from=more_learnt(LearntFrom(), [(learnt, "")]))
    _, result = await hold_against(settings, "new", cases, BOUNDS, shelf(OLD, seen))
    left = [case for case in cases if case.group != learnt]
    assert result.supported + result.unsupported == len(left) < len(cases)
    assert result.learnt == len(cases) - len(left)


async def test_candidate_that_learnt_from_everything_is_refused(kafka: Settings):
    settings = await reviewed(kafka)
    cases = await promotion.reviewed_gold(settings)
    passages = [("", pair.premise) for case in cases for pair in case.pairs]
    seen = replace(NEW, learnt_from=more_learnt(LearntFrom(), passages))
    with pytest.raises(ReleaseRefused, match="all 16 gold labels"):
        await hold_against(settings, "new", cases, BOUNDS, shelf(OLD, seen))


async def test_candidate_that_does_not_say_what_it_learnt_from_is_refused(kafka: Settings):
    settings = await reviewed(kafka)
    cases = await promotion.reviewed_gold(settings)
    silent = replace(NEW, learnt_from=None)
    with pytest.raises(ReleaseRefused, match="does not say which documents"):
        await hold_against(settings, "new", cases, BOUNDS, shelf(OLD, silent))


async def test_live_scorer_is_no_candidate(kafka: Settings):
    settings = await reviewed(kafka)
    with pytest.raises(ReleaseRefused, match="old-1 is live already"):
        await attempt(settings, "old")


async def test_candidate_that_cannot_be_loaded_is_refused(kafka: Settings):
    settings = await reviewed(kafka)
    with pytest.raises(ReleaseRefused, match="no scorer 'missing'"):
        await attempt(settings, "missing")


async def test_shadow_is_released_and_ended(kafka: Settings):
    await create_topics(kafka)
    release = await promotion.shadow(kafka, "new", shelf(NEW), SIGNED)
    assert (release.slot, release.revision) == ("shadow", "new-1")
    ended = await promotion.shadow(kafka, None, shelf(NEW), SIGNED)
    assert (ended.scorer, ended.revision) == (None, None)


def test_labelled_files_are_gold_too(tmp_path, kafka: Settings):
    text = SENTENCE.format(value="May 3")
    documents, rows, pairs = (tmp_path / f"{name}.jsonl" for name in ("d", "rows", "pairs"))
    documents.write_bytes(Document(id="d", text=text).to_json() + b"\n")
    row = {"doc_id": "d", "entity_type": "Hearing Date", "value": "May 3", "context": text}
    rows.write_text("".join(json.dumps({"id": str(n), "label": n} | row) + "\n" for n in (0, 1)))
    pairs.write_text(json.dumps({"premise": text, "hypothesis": "Date: May 3", "label": 1}) + "\n")
    cases = promotion.labelled_gold([rows, pairs], [documents], kafka)
    assert [case.supported for case in cases] == [False, True, True]
    assert cases[0].pairs[0].premise == text


def test_answers_are_no_gold_for_a_gate(tmp_path, kafka: Settings):
    responses = tmp_path / "responses.jsonl"
    row = {"id": "r", "context": "A text.", "response": "An answer.", "label": 1}
    responses.write_text(json.dumps(row) + "\n")
    with pytest.raises(ReleaseRefused, match="not answers"):
        promotion.labelled_gold([responses], [], kafka)


def test_folder_is_released_under_its_full_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "candidate").mkdir()
    assert promotion.absolute("candidate") == str(tmp_path / "candidate")
    assert promotion.absolute("default") == "default"


async def test_a_candidate_that_is_not_there_is_not_called_released(kafka: Settings):
    await create_topics(kafka)
    settings, load = kafka.model_copy(update={"scorer": "old"}), shelf(OLD)
    with pytest.raises(ReleaseRefused, match="the candidate 'nothing' cannot be loaded") as refused:
        await hold_against(settings, "nothing", [], Bounds(), load)
    assert "rollback" not in str(refused.value)
