"""The index that the console builds from the topics."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from safepassage.schemas import Review, Verdict
from safepassage.schemas.error_type import ErrorTyping
from safepassage.schemas.reviews_that_count import case_id, standing
from safepassage.schemas.verdict_after_review import next_verdict
from safepassage.streams.console.index.case_filter import CaseFilter, lot
from safepassage.streams.console.index.index_file import IndexUnwritable
from safepassage.streams.console.index.measures import extractor_scores, facets, leakage, open_cases
from safepassage.streams.console.index.store import SAMPLE, CaseStore
from tests.streams.console.cases import review, verdict

EVERYTHING = CaseFilter(pool="stopped")


@pytest.fixture
def store() -> Iterator[CaseStore]:
    store = CaseStore(leakage_sample=0.5)
    yield store
    store.close()


def values(store: CaseStore, wanted: CaseFilter, reviewer: str = "Ana") -> list[object]:
    found = [store.case(case) for case in store.cases(wanted, reviewer, 100)]
    return [case.verdict.value for case in found if case]


def test_a_case_comes_back_as_it_went_in(store: CaseStore) -> None:
    case = store.case(store.add_verdict(verdict(1), 5))
    assert case is not None
    assert (case.verdict, case.at, case.settled, case.sampled) == (verdict(1), 5, False, False)


def test_the_most_uncertain_case_comes_first(store: CaseStore) -> None:
    for number, score in enumerate([0.1, 0.45, None, 0.3]):
        store.add_verdict(verdict(number, score=score, value=str(score)), number)
    assert values(store, EVERYTHING)[:3] == ["0.45", "0.3", "0.1"]


@pytest.mark.parametrize(("order", "expected"), [("oldest", ["a", "b"]), ("newest", ["b", "a"])])
def test_cases_come_by_age(store: CaseStore, order: str, expected: list[str]) -> None:
    store.add_verdict(verdict(1, value="b"), 20)
    store.add_verdict(verdict(2, value="a"), 10)
    assert values(store, CaseFilter(pool="stopped", order=order)) == expected


@pytest.mark.parametrize(
    "wanted",
    [
        {"entity_type": "Outcome"},
        {"reason": "scorer_failed"},
        {"model": "model-z"},
        {"document": "doc-z"},
        {"age": "hour"},
        {"entity_type": "Outcome", "reason": "scorer_failed", "model": "model-z"},
    ],
)
def test_each_filter_keeps_what_it_names_and_nothing_else(
    store: CaseStore, wanted: dict[str, str]
) -> None:
    for number in range(5):
        store.add_verdict(verdict(number), 0)
    special = {"entity_type": "Outcome", "model": "model-z", "doc_id": "doc-z", "value": "it"}
    store.add_verdict(verdict(9, score=None, **special), 10**14)
    assert values(store, CaseFilter.parse(wanted | {"pool": "stopped"})) == ["it"]
    assert store.count(CaseFilter.parse(wanted | {"pool": "stopped"}), "Ana") == 1


def test_the_error_type_filter_keeps_what_was_typed_so(store: CaseStore) -> None:
    typing = ErrorTyping(
        types=("misattribution", "reasoning_error"), typed_by="local", revision="1"
    )
    store.add_verdict(verdict(1), 0)
    store.add_verdict(verdict(2, value="it").model_copy(update={"error_types": typing}), 0)
    for kind, expected in (("reasoning_error", ["it"]), ("procedural_error", [])):
        wanted = CaseFilter.parse({"error_type": kind, "pool": "stopped"})
        assert values(store, wanted) == expected


def test_the_score_filter_leaves_out_what_has_no_score(store: CaseStore) -> None:
    for number, score in enumerate([0.1, 0.3, None]):
        store.add_verdict(verdict(number, score=score, value=str(score)), number)
    wanted = CaseFilter(pool="stopped", min_score=0.2, max_score=0.4)
    assert values(store, wanted) == ["0.3"]


@pytest.mark.parametrize("hostile", ["' OR 1=1 --", "%", '"; DROP TABLE cases; --'])
def test_what_a_filter_says_never_becomes_a_query(store: CaseStore, hostile: str) -> None:
    store.add_verdict(verdict(1), 0)
    for field in ("entity_type", "reason", "error_type", "model", "document"):
        assert store.count(CaseFilter.parse({field: hostile, "pool": "stopped"}), hostile) == 0
    assert store.count(EVERYTHING, hostile) == 1


def test_a_case_that_others_have_is_passed_over(store: CaseStore) -> None:
    first, second = (store.add_verdict(verdict(n, score=s), n) for n, s in ((1, 0.45), (2, 0.4)))
    assert store.next_case(EVERYTHING, "Ana", {first}) == second
    assert store.next_case(EVERYTHING, "Ana", {first, second}) is None


def test_a_later_verdict_of_another_revision_replaces_the_earlier_one(store: CaseStore) -> None:
    store.add_verdict(verdict(1, score=0.2), 10)
    case = store.add_verdict(verdict(1, score=0.3, revision="scorer-2"), 20)
    store.add_verdict(verdict(1, score=0.1, revision="scorer-0"), 5)
    found = store.case(case)
    assert found is not None
    assert found.verdict.scorer_revision == "scorer-2"
    assert store.count(EVERYTHING, "Ana") == 1


def test_a_case_that_a_new_scorer_accepts_leaves_the_queue(store: CaseStore) -> None:
    store.add_verdict(verdict(1, score=0.2), 10)
    store.add_verdict(verdict(1, score=0.9, revision="scorer-2"), 20)
    assert store.count(EVERYTHING, "Ana") == 0


def test_of_two_verdicts_at_the_same_time_the_one_that_stops_counts(store: CaseStore) -> None:
    store.add_verdict(verdict(1, score=0.2), 10)
    store.add_verdict(verdict(1, score=0.9, revision="scorer-2"), 10)
    assert store.count(EVERYTHING, "Ana") == 1


def test_a_judged_case_leaves_the_queue_and_an_undo_brings_it_back(store: CaseStore) -> None:
    made = review(verdict(1))
    store.add_verdict(verdict(1), 1)
    store.add_review(made)
    assert store.count(EVERYTHING, "Ana") == 0
    store.add_review(review(verdict(1), "undone", minute=1, supersedes=made.id))
    assert store.count(EVERYTHING, "Ana") == 1


def test_a_skipped_case_waits_for_others_and_apart_for_whoever_skipped_it(store: CaseStore) -> None:
    store.add_verdict(verdict(1), 1)
    store.add_review(review(verdict(1), "skipped"))
    assert store.count(EVERYTHING, "Ana") == 0
    assert store.count(EVERYTHING, "Ben") == 1
    assert store.count(CaseFilter(pool="skipped"), "Ana") == 1


@pytest.mark.parametrize("pool", ["queue", "stopped", "checks", "second", "skipped"])
@pytest.mark.parametrize("order", ["uncertain", "oldest", "newest"])
def test_every_pool_can_be_filtered_in_every_order(store: CaseStore, pool: str, order: str) -> None:
    store.add_verdict(verdict(1), 1)
    store.add_review(review(verdict(1), "skipped"))
    every = {"entity_type": "x", "reason": "x", "model": "x", "document": "x", "age": "day"}
    scores = {"min_score": "0.1", "max_score": "0.2"}
    wanted = CaseFilter.parse({"pool": pool, "order": order} | every | scores)
    assert store.cases(wanted, "Ana", 10) == []
    assert store.count(wanted, "Ana") == 0
    assert not store.holds(case_id(verdict(1)), wanted, "Ana")


def test_second_opinions_are_on_cases_that_others_decided(store: CaseStore) -> None:
    store.add_verdict(verdict(1), 1)
    store.add_review(review(verdict(1)))
    assert store.count(CaseFilter(pool="second"), "Ana") == 0
    assert store.count(CaseFilter(pool="second"), "Ben") == 1


def test_accepted_verdicts_are_drawn_by_lot_and_the_others_are_only_counted(
    store: CaseStore,
) -> None:
    accepted = [verdict(n, score=0.9) for n in range(2 * SAMPLE + 100)]
    for at, one in enumerate(accepted):
        store.add_verdict(one, at)
    drawn = store.cases(CaseFilter(pool="checks"), "Ana", 1_000)
    assert store.sample_rate == 0.5
    assert set(drawn) == {case_id(v) for v in accepted if lot(v) < 0.5}
    assert drawn == sorted(drawn, key=lambda c: lot(store.case(c).verdict))  # type: ignore[union-attr]
    assert sum(row.accepted for row in extractor_scores(store)) == len(accepted)


def test_a_small_stream_has_spot_checks_enough_for_a_first_promise() -> None:
    """The same ones in every order, those of the smallest lots; so they are drawn alike."""
    accepted = [verdict(n, score=0.9) for n in range(SAMPLE + 40)]
    smallest = sorted(accepted, key=lot)
    for seed in range(3):
        store = CaseStore(leakage_sample=0.02)
        random.Random(seed).shuffle(accepted)
        for at, one in enumerate(accepted):
            store.add_verdict(one, at)
            assert store.sample_rate == 1.0 or at >= SAMPLE
        drawn = store.cases(CaseFilter(pool="checks"), "Ana", 1_000)
        assert drawn == [case_id(v) for v in smallest[:SAMPLE]]
        assert store.sample_rate == lot(smallest[SAMPLE])
        store.close()


def test_spot_checks_ignore_the_filters_that_would_bias_them(store: CaseStore) -> None:
    for n in range(50):
        store.add_verdict(verdict(n, score=0.9), n)
    everything = store.count(CaseFilter(pool="checks"), "Ana")
    filtered = CaseFilter(pool="checks", entity_type="none", document="none")
    assert store.count(filtered, "Ana") == everything > 0


def test_a_review_whose_verdict_is_gone_from_its_topic_still_is_a_case(store: CaseStore) -> None:
    case = store.case(store.add_review(review(verdict(1))))
    assert case is not None
    assert (case.settled, case.verdict) == (True, verdict(1))
    store.add_verdict(verdict(1), 77)
    assert store.case(case.id).at == 77  # type: ignore[union-attr]


def test_leakage_is_what_people_refuse_of_the_sample_with_its_interval(store: CaseStore) -> None:
    accepted = [verdict(n, score=0.9) for n in range(4)]
    for one, decision in zip(
        accepted, ("supports", "supports", "insufficient", "corrected"), strict=True
    ):
        store.add_verdict(one, 1)
        store.add_review(review(one, decision, value="x" if decision == "corrected" else None))
    total, of_the_revision = leakage(store)
    assert (total.leaked.successes, total.leaked.total) == (2, 4)
    assert of_the_revision.revision == "scorer-1"
    assert total.leaked.interval == pytest.approx((0.150, 0.850), abs=1e-3)


def test_an_undone_check_no_longer_counts(store: CaseStore) -> None:
    made = review(verdict(1, score=0.9), "insufficient")
    store.add_review(made)
    store.add_review(review(made.verdict, "undone", minute=1, supersedes=made.id))
    assert leakage(store)[0].leaked.total == 0


def test_a_stopped_case_says_nothing_about_leakage(store: CaseStore) -> None:
    store.add_review(review(verdict(1), "insufficient"))
    assert leakage(store)[0].leaked.total == 0


def test_facets_count_open_cases(store: CaseStore) -> None:
    for n in range(3):
        store.add_verdict(verdict(n), n)
    store.add_review(review(verdict(0)))
    assert facets(store)["entity_type"] == [("Hearing Date", 1), ("Judge", 1)]
    assert open_cases(store) == {"queue": 2, "checks": 0, "double": 0}


def test_the_order_in_which_topics_are_read_does_not_matter(store: CaseStore) -> None:
    """Three topics with several partitions come interleaved; the index must be the same."""
    first, second = verdict(1), verdict(1, score=0.45, revision="scorer-2")
    made = [review(first), review(first, "insufficient", by="Ben", minute=1)]
    outcome = next_verdict(first, standing(made[:1]), made[0], None)
    assert outcome is not None
    records: list[tuple[Verdict | Review, int]] = [(first, 10), (second, 20), (outcome, 30)]
    records += [(one, 0) for one in made]
    seen = set()
    for seed in range(12):
        random.Random(seed).shuffle(records)
        other = CaseStore(leakage_sample=0.5)
        for event, at in records * 2:
            if isinstance(event, Review):
                other.add_review(event)
            else:
                other.add_verdict(event, at)
        case = other.case(case_id(first))
        assert case is not None
        seen.add((case.verdict.id, case.at, case.settled, len(case.reviews)))
        assert other.published(case.id) == outcome
        other.close()
    assert seen == {(second.id, 20, True, 2)}


def test_memory_stays_bounded_because_the_index_is_on_disk(store: CaseStore) -> None:
    cache = store.connection.execute("PRAGMA cache_size").fetchone()[0]
    temporary = store.connection.execute("PRAGMA database_list").fetchone()[2]
    assert cache == -65536
    assert temporary == ""


def test_a_full_disk_is_said_with_what_to_do(store: CaseStore) -> None:
    store.connection.execute("PRAGMA max_page_count = 40")

    def add(count: int) -> None:
        with store.batch():
            for number in range(count):
                store.add_verdict(verdict(number, text=f"{number} " * 2000), number)

    with pytest.raises(IndexUnwritable, match=r"disk is full\)\. Make room"):
        add(400)
