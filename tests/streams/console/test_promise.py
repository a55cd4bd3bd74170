"""The risk of what passes, live, and what follows where it is more than was promised."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from safepassage.schemas import Draw, DriftWarning, Review, ScorerRelease, Verdict
from safepassage.schemas.decision_rule import in_mode
from safepassage.streams.console import promise as promise_module
from safepassage.streams.console.index.measures import LiveRisk, live_risk
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.promise import Promise
from safepassage.streams.release.releases import InForce
from safepassage.streams.settings import Settings
from safepassage.streams.topics import SCORERS, WARNINGS
from tests.streams.doubles import FakePublisher

from .cases import review, verdict

REVISION = verdict(0).scorer_revision or ""


@pytest.fixture
def store() -> Iterator[CaseStore]:
    store = CaseStore(leakage_sample=1.0)
    yield store
    store.close()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> InForce:
    """What is released."""
    held = InForce()

    async def read(_settings: Settings) -> InForce:
        return held

    monkeypatch.setattr(promise_module, "releases_in_force", read)
    return held


def check(store: CaseStore, number: int, *, wrong: bool, **changes: object) -> Verdict:
    """An accepted verdict that was drawn by lot and judged."""
    passed = verdict(number, **({"score": 0.9} | changes))
    store.add_verdict(passed, number)
    saved = review(passed, "insufficient" if wrong else "supports")
    draw = Draw(probability=0.5, among=2, before=number, rate=1.0)
    store.add_review(saved.model_copy(update={"sampled": True, "draw": draw}))
    return passed


def by_type(risks: list[LiveRisk]) -> dict[str, LiveRisk]:
    return {risk.entity_type: risk for risk in risks}


def test_enough_right_checks_certify_and_too_few_say_how_many_are_wanted(store: CaseStore) -> None:
    for number in range(100):
        check(store, number, wrong=False)
    (everything, *types) = live_risk(store, REVISION, 0.05, 0.95)
    assert everything.certified
    assert everything.wanted == 0
    assert everything.bounds[1] < 0.05
    assert {risk.wanted for risk in types} == {9}, "59 right ones certify 5%, there are 50 of each"
    assert everything.passed.share == 1.0
    assert not everything.broken


def test_what_a_person_chose_says_nothing_of_the_risk(store: CaseStore) -> None:
    passed = verdict(1, score=0.9)
    store.add_verdict(passed, 1)
    store.add_review(review(passed, "insufficient").model_copy(update={"sampled": False}))
    assert live_risk(store, REVISION, 0.05, 0.95)[0].wrong.total == 0


def test_another_scorer_starts_anew(store: CaseStore) -> None:
    for number in range(20):
        check(store, number, wrong=True)
    assert live_risk(store, "another", 0.05, 0.95)[0].wrong.total == 0


def settings() -> Settings:
    return Settings(risk=0.05, scorer="words")


async def test_a_broken_promise_makes_routing_stricter_once_and_warns(
    store: CaseStore, held: InForce
) -> None:
    """Names err where their score is low; amounts do not err."""
    for number in range(0, 300, 2):
        check(store, number, wrong=False, entity_type="Amount")
        low = number % 4 == 0
        check(store, number + 1, wrong=low, entity_type="Name", score=0.6 if low else 0.95)
    publisher = FakePublisher()
    promise = Promise(store, publisher, settings())
    release = await promise.watch()
    assert release is not None
    (published,) = publisher.to(SCORERS)
    assert published == release
    assert release.scorer is not None
    assert release.scorer.startswith('words#{"name":0.')
    assert (release.previous, release.previous_revision) == ("words", REVISION)
    (warning,) = publisher.to(WARNINGS)
    assert isinstance(warning, DriftWarning)
    assert (warning.measure, warning.entity_type, warning.observed) == ("risk", "Name", 0.5)
    held.releases["live"] = release
    assert await promise.watch() is None, "the stricter scorer has not been checked yet"


async def test_in_strict_mode_its_verdicts_are_watched_and_the_release_names_the_scorer(
    store: CaseStore, held: InForce
) -> None:
    for number in range(60):
        passed = verdict(number, score=0.9, entity_type="Name")
        judged = in_mode(passed.scorer_revision or "", strict=True)
        passed = passed.model_copy(update={"scorer_revision": judged})
        store.add_verdict(passed, number)
        saved = review(passed, "insufficient" if number % 3 == 0 else "supports")
        draw = Draw(probability=0.5, among=2, before=number, rate=1.0)
        store.add_review(saved.model_copy(update={"sampled": True, "draw": draw}))
    held.releases["live"] = ScorerRelease(
        slot="live",
        scorer="words",
        revision=REVISION,
        previous=None,
        released_at="2026-01-01T00:00:00Z",
        released_by="Ana",
        reason="better",
    )
    assert await Promise(store, FakePublisher(), settings()).watch() is None
    strict = settings().model_copy(update={"strict": True})
    release = await Promise(store, FakePublisher(), strict).watch()
    assert release is not None
    assert release.revision == in_mode(release.revision or "", strict=False)
    assert release.previous_revision == REVISION


async def test_where_no_threshold_keeps_it_nothing_passes_without_a_person(
    store: CaseStore, held: InForce
) -> None:
    for number in range(60):
        check(store, number, wrong=number % 3 == 0, entity_type="Name")
    release = await Promise(store, FakePublisher(), settings()).watch()
    assert release is not None
    assert release.scorer == 'words#{"name":1.0}'


async def test_a_kept_promise_and_none_at_all_change_nothing(
    store: CaseStore, held: InForce
) -> None:
    for number in range(200):
        check(store, number, wrong=number % 50 == 0)
    publisher = FakePublisher()
    assert await Promise(store, publisher, settings()).watch() is None
    for number in range(200, 300):
        check(store, number, wrong=True)
    assert await Promise(store, publisher, Settings()).watch() is None
    assert publisher.published == []


async def test_a_rollback_still_leads_to_the_scorer_before_the_promotion(
    store: CaseStore, held: InForce
) -> None:
    for number in range(60):
        check(store, number, wrong=number % 3 == 0, entity_type="Name")
    held.releases["live"] = ScorerRelease(
        slot="live",
        scorer="words",
        revision=REVISION,
        previous="small",
        previous_revision="old",
        released_at="2026-01-01T00:00:00Z",
        released_by="Ana",
        reason="better",
    )
    release = await Promise(store, FakePublisher(), settings()).watch()
    assert release is not None
    assert (release.previous, release.previous_revision) == ("small", "old")


def test_a_review_without_a_draw_is_read_and_written_as_before() -> None:
    saved = review(verdict(1))
    assert b"draw" not in saved.to_json()
    assert Review.model_validate_json(saved.to_json()).draw is None
