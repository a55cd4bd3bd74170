"""The default scorer beside a memory: what decides, what moves, what stays to the byte."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from safepassage.schemas import StandingDecision
from safepassage.schemas.memory import MemorySnapshot, ReviewerVote
from safepassage.schemas.review import JudgedValue
from safepassage.scoring_worker import Pair, load_scorer
from safepassage.scoring_worker.detectors.registry import load_detector
from safepassage.scoring_worker.manifest import Thresholds
from safepassage.scoring_worker.memory.index import NO_MEMORY
from safepassage.scoring_worker.memory.learning import learnt_entries, memory_revision
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.scoring_worker.scorers.by_language import ByLanguage, NotLoaded
from safepassage.scoring_worker.scorers.cascade import CascadeScorer
from safepassage.scoring_worker.specified_scorer import ClaimJudge, SpecifiedScorer
from tests.scoring_worker.tiny import pair, reader_scorer

RENT = pair("rent: 2500 a month, deposit: 900", "900", "Rent")
LIKE_IT = pair("rent: 1800 a month, deposit: 700", "700", "Rent")
ANOTHER = pair("the court sat in leeds", "leeds", "Place")


@pytest.fixture(scope="module")
def scorer(tmp_path_factory):
    return load_scorer(reader_scorer(tmp_path_factory.mktemp("tiny")), device="cpu")


def decision(of: Pair, supported: bool = False, number: int = 1, **changes) -> StandingDecision:
    told = {
        "case_id": f"case-{number}",
        "doc_id": "doc",
        "decision": "supports" if supported else "insufficient",
        "reviewer": "ana",
        "review_id": f"review-{number}",
        "judged": "verdict",
        "asked": JudgedValue(entity_type=of.entity_type, value=of.value, passage=of.premise),
        "votes": (ReviewerVote(reviewer="ana", supported=supported),),
        "decided_at": datetime(2026, 1, number, tzinfo=UTC),
    }
    return StandingDecision.model_validate(told | changes)


def remember(scorer, *decisions: StandingDecision) -> str:
    entries = [one for own in learnt_entries(decisions, scorer) for one in own]
    snapshot = MemorySnapshot.of(memory_revision(scorer), None, tuple(entries), ())
    scorer.remember(NO_MEMORY.changed(snapshot))
    return snapshot.name


@pytest.fixture(autouse=True)
def forgetting(scorer):
    yield
    scorer.remember(NO_MEMORY)


def test_a_rejection_lowers_the_next_like_it_and_is_named(scorer):
    before = scorer.assess([LIKE_IT, ANOTHER])
    name = remember(scorer, decision(RENT))
    after = scorer.assess([LIKE_IT, ANOTHER])
    assert after[0].score < before[0].score
    assert after[0].memory.snapshot == name
    assert [case.case_id for case in after[0].memory.cases] == ["case-1"]
    assert after[0].memory.shift < 0
    assert after[1] == before[1], "a type that nobody reviewed is judged as ever"
    assert after[0].revision == before[0].revision


def test_an_approval_raises_it(scorer):
    before = scorer.assess([LIKE_IT])[0].score
    remember(scorer, decision(RENT, supported=True))
    assert scorer.assess([LIKE_IT])[0].score > before


def test_a_contradiction_decides_whatever_was_approved(scorer):
    wrong = pair("the hearing took place on may 4, 2015", "may 7, 2015", "Hearing Date")
    right = pair("the hearing took place on may 4, 2015", "may 4, 2015", "Hearing Date")
    before = scorer.assess([wrong])[0]
    assert any(finding.contradicts for finding in before.findings)
    remember(scorer, *[decision(right, supported=True, number=n) for n in range(1, 20)])
    assert scorer.assess([wrong])[0] == before


def test_a_failure_stays_one(scorer):
    remember(scorer, decision(RENT, supported=True))
    unread = replace(LIKE_IT, premise="ქირა 700", language="ka")
    assert scorer.assess([unread])[0].failure == "language_not_covered"


def test_who_is_in_the_batch_changes_nothing(scorer):
    remember(scorer, decision(RENT), decision(LIKE_IT, supported=True, number=2))
    pairs = [LIKE_IT, RENT, ANOTHER, pair("rent of the flat: 700", "700", "Rent")]
    assert scorer.assess(pairs) == [scorer.assess([one])[0] for one in pairs]


def test_what_teaches_nothing(scorer):
    contradicted = pair("the hearing took place on may 4, 2015", "may 7, 2015", "Hearing Date")
    undone = decision(RENT, decision=None, asked=None, votes=(), decided_at=None)
    before_memory = decision(RENT, asked=None)
    assert learnt_entries([decision(contradicted), undone, before_memory], scorer) == [(), (), ()]


def test_a_correction_teaches_both_values(scorer):
    corrected = decision(RENT, decision="corrected", value="2500")
    (entries,) = learnt_entries([corrected], scorer)
    said = [(one.role, [vote.supported for vote in one.votes]) for one in entries]
    assert said == [("judged", [False]), ("correction", [True])]


def test_of_a_refused_list_nobody_knows_which_part_was_wrong(scorer):
    several = Pair("leeds, york and hull", "Places: leeds; york", "Places", ["leeds", "york"])
    refused, approved = decision(several), decision(several, supported=True)
    (none,), (both,) = learnt_entries([refused], scorer), learnt_entries([approved], scorer)
    assert none == ()
    assert [one.number for one in both] == [0, 1]


def test_each_reader_remembers_its_own_language(scorer, tmp_path):
    other = load_scorer(reader_scorer(tmp_path / "other", seed=3, name="other"), device="cpu")
    both = ByLanguage("both", "en", scorer, other)
    english = replace(LIKE_IT, language="en")
    german = replace(LIKE_IT, language="de")
    before = both.assess([english, german])
    decided = decision(RENT)
    asked = decided.asked.model_copy(update={"language": "de"})
    remember(both, decided.model_copy(update={"asked": asked}))
    after = both.assess([english, german])
    assert after[0] == before[0]
    assert after[1].score < before[1].score
    assert [trace.space for left in both.traces([english, german]) for trace in left] == [
        scorer.revision,
        other.revision,
    ]


def _with(own):
    return SpecifiedScorer(ScorerSpec("own"), own, thresholds=Thresholds(default=0.3))


def _late(own):
    late = NotLoaded(own.name, own.revision, own.learnt_from, lambda: own)
    return ByLanguage("both", "xx", own, late)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda own: CascadeScorer(own, own),
        lambda own: SpecifiedScorer(ScorerSpec("own", limits={"rent": 0.9}), own),
        lambda own: SpecifiedScorer(
            ScorerSpec("own", claims="quip"), own, judge=ClaimJudge(load_detector("quip"), 0.5)
        ),
        _late,
        _with,
    ],
    ids=["cascade", "raised", "claims", "deferred", "thresholds"],
)
def test_what_wraps_a_scorer_hands_the_memory_on(scorer, wrap):
    wrapped = wrap(scorer)
    before = scorer.assess([LIKE_IT])[0]
    remember(wrapped, decision(RENT))
    after = wrapped.assess([LIKE_IT])[0]
    assert after.memory is not None
    assert after.score < before.score


def test_a_part_with_memory_names_it_though_another_decides(scorer):
    several = Pair("rent: 700, place: leeds", "Lease", "Lease", {"rent": "700", "place": "leeds"})
    before = scorer.assess([several])[0]
    surest = max(scorer.traces([several])[0], key=lambda trace: trace.log_odds)
    value = "700" if surest.part.endswith("rent") else "leeds"
    taught = decision(Pair(several.premise, "", surest.part, value), supported=True)
    name = remember(scorer, taught)
    after = scorer.assess([several])[0]
    assert after.score == before.score
    assert after.memory.snapshot == name, "another memory might have made it the worst part"


DIABETES = "Diabetes Mellitus Type 2"
FIRST = pair("Diagnosis: DM2", DIABETES, "Diagnosis")
SECOND = pair("Diagnosis: DM2.", DIABETES, "Diagnosis")
LATER = pair("known DM2, admitted in leeds for a fall", DIABETES, "Diagnosis")


def stopped_for_words(scorer, of: Pair) -> bool:
    return any(one.code == "word_differs" for one in scorer.assess([of])[0].findings)


def test_words_that_reviewers_approved_twice_stop_no_value(scorer):
    assert stopped_for_words(scorer, LATER)
    remember(scorer, decision(FIRST, supported=True))
    assert stopped_for_words(scorer, LATER), "one decision is not enough"
    name = remember(
        scorer, decision(FIRST, supported=True), decision(SECOND, supported=True, number=2)
    )
    (after,) = scorer.assess([LATER])
    assert not stopped_for_words(scorer, LATER)
    assert after.memory.snapshot == name
    assert [case.case_id for case in after.memory.cases] == ["case-1", "case-2"]
    said = {one.code: one.detail for one in after.findings}["reviewed_alike"]
    assert said == (
        "“DM2” was accepted for “Diabetes Mellitus Type”; 2 like this were accepted by ana"
    )


def test_two_people_approve_words_on_one_case(scorer):
    votes = tuple(ReviewerVote(reviewer=name, supported=True) for name in ("ana", "bo"))
    remember(scorer, decision(FIRST, supported=True, votes=votes))
    assert not stopped_for_words(scorer, LATER)


@pytest.mark.parametrize(
    "other",
    [
        pair("known HTN, admitted in leeds", DIABETES, "Diagnosis"),  # other words of the quote
        pair("known DM2, admitted in leeds", "Diabetes Mellitus Type 1", "Diagnosis"),
        pair("known DM2, admitted in leeds", DIABETES, "Family History"),  # another type
        pair("DM2 is ruled out.", DIABETES, "Diagnosis"),  # denied
    ],
)
def test_approved_words_are_of_their_type_and_stop_where_they_are_denied(scorer, other):
    remember(scorer, decision(FIRST, supported=True), decision(SECOND, supported=True, number=2))
    (found,) = scorer.assess([other])
    assert any(one.contradicts for one in found.findings)
    assert not found.passes


def test_one_rejection_takes_approved_words_back(scorer):
    remember(
        scorer,
        decision(FIRST, supported=True),
        decision(SECOND, supported=True, number=2),
        decision(LATER, number=3),
        decision(pair("DM2", DIABETES, "Diagnosis"), number=4),
    )
    assert stopped_for_words(scorer, LATER)


def test_what_is_beside_a_word_is_in_its_place_and_nothing_else_of_the_quote(scorer):
    first = pair("Supplier: Corvane Medtech GmbH", "Halden Medtech GmbH", "Supplier")
    second = pair("sold by Corvane Medtech GmbH", "Halden Medtech GmbH", "Supplier")
    remember(scorer, decision(first, supported=True), decision(second, supported=True, number=2))
    other = pair("Corvane sold it to Vega Medtech GmbH", "Halden Medtech GmbH", "Supplier")
    assert not stopped_for_words(scorer, first)
    assert stopped_for_words(scorer, other)


def test_words_leave_digests_and_no_words(scorer):
    ((entry,),) = learnt_entries([decision(FIRST, supported=True)], scorer)
    said = entry.model_dump_json().casefold()
    assert (entry.shape, entry.state, len(entry.words)) == ("words", "", 1)
    assert "dm2" not in said
    assert "diabetes" not in said


@pytest.mark.parametrize(
    "unclear",
    [
        pair("seen in march, walks well, eats well, sleeps badly", DIABETES, "Diagnosis"),
        pair("the hearing took place on may 4, 2015", "may 7, 2015", "Hearing Date"),
    ],
)
def test_nothing_is_learnt_where_nobody_knows_which_words_or_another_thing_differs(scorer, unclear):
    assert learnt_entries([decision(unclear, supported=True)], scorer) == [()]


def test_a_rejected_value_with_several_gaps_says_nothing_of_one(scorer):
    several = pair("Corvane Medtech, Vienna office", "Halden Medtech, Prague office", "Supplier")
    ((entry,),) = learnt_entries([decision(several, supported=True)], scorer)
    assert len(entry.words) == 2
    assert learnt_entries([decision(several)], scorer) == [()]
