"""The default scorer: comparators stop, the reader decides, the stack weighs."""

import re
from dataclasses import replace

import numpy as np
import pytest

from safepassage.schemas import CLAIM_TYPE, SchemaField, hypothesis
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.comparison.rules_version import rules_revision
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.reader import Reading
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.manifest import (
    ModelError,
    PlattCalibration,
    ScorerManifest,
    Thresholds,
)
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.opinion import SHAPES
from safepassage.scoring_worker.weighing.other_fields import CLEARLY
from safepassage.scoring_worker.weighing.score import REFUSED
from tests.scoring_worker.weighing.reading import YES, ToldReader

DOSES = "metformin 850 mg twice daily, ramipril 5 mg once daily"
WEIGHTS = {"value_mean": 4.0, "rival": -4.0, "entailed": 4.0, "founded_least": 2.0}
STACK = {"shapes": {shape: {"bias": 0.0, "weights": WEIGHTS} for shape in SHAPES}}


def scorer(reader: ToldReader | None = None, **changes: object) -> DefaultScorer:
    manifest = ScorerManifest(name="s", kind="reader", labels=0, max_length=64, stack=STACK)
    return DefaultScorer(manifest.model_copy(update=changes), reader or ToldReader())  # type: ignore[arg-type]


def pair(premise: str, kind: str, value: object, **more: object) -> Pair:
    return Pair(premise, hypothesis(kind, value), kind, value, **more)  # type: ignore[arg-type]


def test_the_value_that_the_reader_gives_is_supported_and_its_rival_is_not() -> None:
    reading = ToldReader({"Ramipril Dose": "5 mg"})
    right, wrong = scorer(reading).assess(
        [pair(DOSES, "Ramipril Dose", "5 mg"), pair(DOSES, "Ramipril Dose", "850 mg")]
    )
    assert right.score is not None
    assert wrong.score is not None
    assert right.score > 0.5 > wrong.score


def test_the_finding_names_the_rival_that_the_reader_prefers() -> None:
    reading = ToldReader({"Tenant": "Maria Lopez"})
    text = "Landlord: Peter Hahn. Tenant: Maria Lopez."
    (wrong,) = scorer(reading).assess([pair(text, "Tenant", "Peter Hahn")])
    details = [found.detail for found in wrong.findings if found.code == "rival_preferred"]
    assert details == ["the passage gives 'Maria Lopez' as Tenant"]


def test_what_differs_is_refused_whatever_the_reader_would_say_and_costs_no_reading() -> None:
    reading = ToldReader({"Total": "1,234.56"}, entailed=["Total: 9,999.99"])
    (refused,) = scorer(reading).assess([pair("Total: 1,234.56", "Total", "9,999.99")])
    assert refused.score is not None
    assert refused.score <= REFUSED
    assert refused.findings
    assert not reading.asked


def test_a_refusal_stays_below_any_threshold() -> None:
    strict = Thresholds(default=0.004)
    (refused,) = scorer(thresholds=strict).assess([pair("Total: 1,234.56", "Total", "9,999.99")])
    assert refused.score is not None
    assert refused.score < 0.004


def test_a_list_is_worth_what_its_worst_element_is_worth() -> None:
    text = "Required: Rust and Go. A plus: Haskell."
    reading = ToldReader({"Required Skill": "Rust and Go"})
    good, mixed = scorer(reading).assess(
        [
            pair(text, "Required Skill", ["Rust", "Go"]),
            pair(text, "Required Skill", ["Rust", "Haskell"]),
        ]
    )
    assert good.score is not None
    assert mixed.score is not None
    assert good.score > 0.5 > mixed.score


def test_a_value_that_does_not_stand_there_in_words_is_judged_as_a_statement() -> None:
    reading = ToldReader(entailed=["Interpreter Present: yes"])
    (seen,) = scorer(reading).assess(
        [pair("The witness spoke through a translator.", "Interpreter Present", True)]
    )
    assert seen.score is not None
    assert seen.score > 0.5


def test_words_of_a_claim_that_are_not_supported_are_named() -> None:
    claim = "The rent is due on Friday"
    (stopped,) = scorer().assess([pair("The rent is due on Monday", CLAIM_TYPE, claim)])
    assert [found.code for found in stopped.findings if found.code == "words_unfounded"]
    assert stopped.evidence
    spans = [claim[span.start : span.end] for span in stopped.evidence.unsupported]
    assert spans
    assert all(word.strip() in claim for word in spans)


def test_words_that_stand_nowhere_in_the_context_are_named_beside_those() -> None:
    claim = "The rent is due on Friday in Leith"
    asked = replace(pair("The rent is due on Friday", CLAIM_TYPE, claim), absent=((29, 34),))
    reading = ToldReader(entailed=[f"{CLAIM_TYPE}: {claim}", claim])
    (judged,) = scorer(reading).assess([asked])
    assert judged.evidence
    spans = [claim[span.start : span.end] for span in judged.evidence.unsupported]
    assert "Leith" in " ".join(spans)
    starts = [span.start for span in judged.evidence.unsupported]
    assert starts == sorted(starts)


def test_a_claim_without_a_passage_is_never_supported() -> None:
    (judged,) = scorer(ToldReader(entailed=["Yes"])).assess([pair("", CLAIM_TYPE, "Yes")])
    assert judged.score is not None
    assert judged.threshold is not None
    assert judged.score < judged.threshold


def test_a_failed_reading_is_a_failure_and_touches_no_neighbour() -> None:
    reading = ToldReader({"City": "Lyon"}, failing="Oslo")
    good, failed = scorer(reading).assess(
        [pair("City: Lyon", "City", "Lyon"), pair("City: Oslo", "City", "Oslo")]
    )
    assert good.score is not None
    assert (failed.score, failed.failure) == (None, "scorer_failed")


def test_a_language_that_was_not_measured_is_undetermined() -> None:
    (unread,) = scorer().assess([pair("სახელი: ნინო ბერიძე", "სახელი", "ნინო ბერიძე")])
    assert (unread.score, unread.failure) == (None, "language_not_covered")


def test_a_date_with_two_readings_is_undetermined_unless_something_decides() -> None:
    quote, reading = "Arrival: 04/09/2026", ToldReader({"Arrival": "04/09/2026"})
    british = SchemaField(description="day of arrival, dd/mm/yyyy")
    september, april, copied, told, refused, part = scorer(reading).assess(
        [
            pair(quote, "Arrival", "2026-09-04"),
            pair(quote, "Arrival", "2026-04-09"),
            pair(quote, "Arrival", "04/09/2026"),
            pair(quote, "Arrival", "2026-09-04", field=british),
            pair(quote, "Arrival", "2026-04-09", field=british),
            pair(f"{quote} at Oslo", "Trip", {"arrival": "2026-09-04", "city": "Oslo"}),
        ]
    )
    assert {one.failure for one in (september, april, part)} == {"date_ambiguous"}
    assert [found.code for found in september.findings] == ["date_ambiguous"]
    assert "2026-09-04 or 2026-04-09" in september.findings[0].detail
    assert copied.failure is None
    assert told.failure is None
    assert [found.code for found in refused.findings] == ["date_differs"]


def test_another_part_that_differs_outranks_a_date_with_two_readings() -> None:
    trip = {"arrival": "2026-09-04", "guests": 7}
    (refused,) = scorer().assess([pair("Arrival: 04/09/2026, 3 guests", "Trip", trip)])
    assert refused.failure is None
    assert "number_differs" in [found.code for found in refused.findings]


def test_the_schema_says_how_a_date_of_the_value_is_read() -> None:
    american = SchemaField(description="as MM/DD/YYYY")
    told, refused = scorer(ToldReader({"Arrival": "4 September 2026"})).assess(
        [
            pair("Arrival: 4 September 2026", "Arrival", value, field=american)
            for value in ("09/04/2026", "04/09/2026")
        ]
    )
    assert told.failure is None
    assert [found.code for found in refused.findings] == ["date_differs"]


def test_the_statement_is_read_only_where_it_could_change_the_verdict() -> None:
    weights = {**WEIGHTS, "entailed": 0.5, "founded_least": 0.5}
    stack = {"shapes": {shape: {"bias": 0.0, "weights": weights} for shape in SHAPES}}
    sure, unsure = ToldReader({"City": "Lyon"}), ToldReader({"Town": "Lyon"})
    scorer(sure, stack=stack).assess([pair("City: Lyon", "City", "Lyon")])
    scorer(unsure, stack=stack).assess([pair("City: Lyon", "City", "Lyon")])
    assert [task.asked for task in sure.asked] == ["City"]
    assert [task.asked for task in unsure.asked] == ["City", "City: Lyon"]


def test_the_clause_is_read_where_the_stack_weighs_it() -> None:
    text = "Rent: 900. City: Lyon. Date: May."
    weights = {**WEIGHTS, "clause_mean": 4.0}
    stack = {"shapes": {shape: {"bias": 0.0, "weights": weights} for shape in SHAPES}}
    by_clause, whole = ToldReader({"City": "Lyon"}), ToldReader({"City": "Lyon"})
    (higher,) = scorer(by_clause, stack=stack).assess([pair(text, "City", "Lyon")])
    (lower,) = scorer(whole).assess([pair(text, "City", "Lyon")])
    assert " City: Lyon" in [task.passage for task in by_clause.asked]
    assert " City: Lyon" not in [task.passage for task in whole.asked]
    assert higher.score is not None
    assert lower.score is not None
    assert higher.score > lower.score


def test_a_clause_that_cannot_be_read_is_a_failure() -> None:
    stack = {"shapes": {s: {"bias": 0.0, "weights": {"clause_mean": 1.0}} for s in SHAPES}}
    (failed,) = scorer(ToldReader(failing="Lyon"), stack=stack).assess(
        [pair("Lima. Lyon", "City", "Lyon")]
    )
    assert failed.failure == "scorer_failed"


def test_a_statement_read_for_a_neighbour_moves_no_score() -> None:
    weights = {**WEIGHTS, "entailed": 0.5, "founded_least": 0.5}
    stack = {"shapes": {shape: {"bias": 0.0, "weights": weights} for shape in SHAPES}}
    sure = pair("City: Lyon", "City", "Lyon")
    unsure = pair("City: Lyon", "City", "Lyon", field=SchemaField(description="of birth"))
    judge = scorer(ToldReader({"City": "Lyon"}), stack=stack)
    alone, beside = judge.assess([sure])[0], judge.assess([sure, unsure])[0]
    assert alone == beside


def test_opinions_for_fitting_are_whole() -> None:
    reading = ToldReader({"City": "Lyon"})
    scorer(reading).opinions([pair("City: Lyon", "City", "Lyon")])
    assert {task.asked for task in reading.asked} == {"City", "City: Lyon"}


def test_order_and_number_of_answers_are_those_of_the_pairs() -> None:
    reading = ToldReader({"City": "Lyon"})
    pairs = [pair("City: Lyon", "City", value) for value in ("Lyon", "Lima", "Lyon", ["Lyon"])]
    assert [a.score is not None and a.score > 0.5 for a in scorer(reading).assess(pairs)] == [
        True, False, True, True,
    ]  # fmt: skip


def test_calibration_and_thresholds_by_type_are_the_manifests() -> None:
    reading = ToldReader({"City": "Lyon"})
    plain = scorer(reading).assess([pair("City: Lyon", "City", "Lyon")])[0].score
    thresholds = Thresholds.model_validate(
        {"default": 0.3, "by_type": {"City": {"value": 0.7, "n": 50}}}
    )
    changed = scorer(reading, calibration=PlattCalibration(a=0.5, b=0.0), thresholds=thresholds)
    (seen,) = changed.assess([pair("City: Lyon", "City", "Lyon")])
    assert seen.threshold == 0.7
    assert plain is not None
    assert seen.score is not None
    assert 0.5 < seen.score < plain


@pytest.mark.parametrize("stack", [None, {"shapes": {}}, {"shapes": {"claim": {}}}])
def test_a_manifest_without_usable_coefficients_is_refused(stack: object) -> None:
    with pytest.raises(ModelError):
        scorer(stack=stack)


def test_the_revision_covers_comparators_and_manifest() -> None:
    assert scorer().revision != scorer(thresholds=Thresholds(default=0.4)).revision
    assert scorer().revision.endswith(f"-{rules_revision()}")


def test_the_other_end_of_a_range_is_no_rival() -> None:
    quote = "2016 - present, before that 2012"
    (end,) = scorer(ToldReader({"End Date": "2016"})).opinions([pair(quote, "End Date", "present")])
    (past,) = scorer(ToldReader({"End Date": "2012"})).opinions(
        [pair(quote, "End Date", "present")]
    )
    assert end[0].features["lead"] == 0.0
    assert not any(found.code == "rival_preferred" for found in end[0].findings)
    assert past[0].features["lead"] < 0


LEASE = "The deposit is 2,500 pounds."


class FaintReader(ToldReader):
    """One that would accept the value for any field, and is sure of those that it was told."""

    faint = 1.0

    def _read(self, task: Task) -> Reading | PairFailure:
        told = super()._read(task)
        if isinstance(told, PairFailure) or task.asked in self.answers:
            return told
        inside = told.inside(*re.search("2,500 pounds", task.passage).span())
        return replace(told, answers=np.where(inside, self.faint, told.answers))


def test_a_value_that_answers_another_field_of_the_schema_is_not_accepted() -> None:
    reading = FaintReader({"Deposit": "2,500 pounds"}, entailed=["Rent: 2,500 pounds"])
    told = SchemaField(description="what is paid a month")
    alone, beside = scorer(reading).assess(
        [
            pair(LEASE, "Rent", "2,500 pounds", field=told),
            pair(LEASE, "Rent", "2,500 pounds", field=told.beside(("Garden", "Deposit"))),
        ]
    )
    assert alone.score is not None
    assert alone.score > 0.5
    assert beside.score == 0.25
    assert beside.trail[0].score == 0.25
    (found,) = [found for found in beside.findings if found.code == "another_field"]
    assert found.detail == "the passage gives it as Deposit rather than as Rent"


def test_a_field_that_leads_a_little_stops_nothing() -> None:
    reading = FaintReader({"Deposit": "2,500 pounds"}, entailed=["Rent: 2,500 pounds"])
    reading.faint = YES - CLEARLY + 0.05
    told, line = SchemaField(others=("Deposit",)), "They paid 2,500 pounds."
    (accepted,) = scorer(reading).assess([pair(line, "Rent", "2,500 pounds", field=told)])
    assert "Deposit" in [task.asked for task in reading.asked]
    assert accepted.score is not None
    assert accepted.score > 0.5


def test_a_field_that_means_the_same_stops_nothing() -> None:
    both = SchemaField(others=("Security",))
    reading = FaintReader(entailed=["Deposit: 2,500 pounds"])
    (accepted,) = scorer(reading).assess([pair(LEASE, "Deposit", "2,500 pounds", field=both)])
    assert "Security" in [task.asked for task in reading.asked]
    assert accepted.score is not None
    assert accepted.score > 0.5


def test_no_other_field_is_asked_where_the_reader_is_sure_or_would_not_accept() -> None:
    beside = SchemaField(others=("Garden",))
    for reading in (FaintReader({"Deposit": "2,500 pounds"}), ToldReader()):
        scorer(reading).assess([pair(LEASE, "Deposit", "2,500 pounds", field=beside)])
        assert "Garden" not in [task.asked for task in reading.asked]


def test_no_other_field_is_asked_where_none_could_lead_on_the_fields_own_name() -> None:
    told = SchemaField(description="what is paid at the start", others=("Garden",))
    for answers, asked in (({"Deposit": "2,500 pounds"}, False), ({}, True)):
        reading = FaintReader(answers, entailed=["Deposit: 2,500 pounds"])
        scorer(reading).assess([pair(LEASE, "Deposit", "2,500 pounds", field=told)])
        names = [task.asked for task in reading.asked]
        assert "Deposit" in names
        assert ("Garden" in names) is asked


def test_a_value_with_parts_has_fields_of_its_own() -> None:
    reading = FaintReader()
    value = [{"sum": "2,500 pounds"}, {"sum": "2,500 pounds"}]
    scorer(reading).assess([pair(LEASE, "Rent", value, field=SchemaField(others=("Deposit",)))])
    assert "Deposit" not in [task.asked for task in reading.asked]
