"""The contracts: ids, hypotheses, entities, the decision rule and the form of every event."""

from __future__ import annotations

import builtins
import itertools
import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from safepassage import schemas
from safepassage.schemas import (
    CLAIM_TYPE,
    AlignedExtraction,
    Alignment,
    Assessment,
    AuditBlock,
    AuditEntry,
    Claim,
    Coordinates,
    DeadLetter,
    Document,
    DocumentReport,
    DriftWarning,
    Entity,
    Event,
    Extraction,
    ExtractionManifest,
    ExtractorTrail,
    LabelledExtraction,
    LearningEvent,
    Part,
    Response,
    Review,
    ReviewTrail,
    ScorerRelease,
    ScorerTrail,
    Span,
    Surroundings,
    Usage,
    Verdict,
    canonical_json,
    claim_id,
    entity_type_name,
    extraction_id,
    hypothesis,
    judge,
    reject,
    render_value,
    stable_id,
    text_digest,
    undetermined,
    verdict_id,
)

TEXT = "The hearing took place on January 17, 2012 in Toronto."
QUOTE = "January 17, 2012"
NOW = datetime(2026, 11, 21, tzinfo=UTC)
COORDINATES = Coordinates(topic="documents", partition=0, offset=7)
DOCUMENT = Document(id="d", text=TEXT, meta={"source": "mail", "pages": 3})
REF = DOCUMENT.ref(COORDINATES)
TRAIL = ExtractorTrail(
    model="m",
    prompt_digest="p",
    schema_digest="s",
    usage=Usage(input_tokens=1, output_tokens=2, cost_usd=0.5, milliseconds=3.5),
)
EXTRACTION = Extraction(
    id="e",
    doc_id="d",
    entity_type="Hearing Date",
    value={"yyyy": 2012, "mm": 1, "dd": 17},
    context=QUOTE,
    document=REF,
    extractor=TRAIL,
)
START = TEXT.index(QUOTE)
ALIGNMENT = Alignment(
    score=1.0,
    matches=16,
    length=16,
    unaligned=0,
    threshold=0.6,
    spans=(Span(start=START, end=START + len(QUOTE), text=QUOTE),),
    occurrences=1,
    route="verbatim",
)
ALIGNED = AlignedExtraction(extraction=EXTRACTION, document=REF, alignment=ALIGNMENT)
PASS = Assessment(
    scorer="default",
    revision="r1",
    score=0.9,
    threshold=0.5,
    trail=(ScorerTrail(scorer="encoder", revision="r0", score=0.8, threshold=None),),
)
ACCEPTED = judge(ALIGNED, PASS)
RESPONSE = Response(id="r", context=["One.", "Two."], response="It was one.", query="How many?")

EVENTS: list[Event] = [
    DOCUMENT,
    EXTRACTION,
    LabelledExtraction(**EXTRACTION.model_dump(), label=1, kind="natural", why="header"),
    ExtractionManifest(document=REF, extraction_ids=("e",), extractor=TRAIL),
    ALIGNED,
    RESPONSE,
    RESPONSE.model_copy(update={"part": Part(since=3, final=True)}),
    Claim(id="c", response_id="r", ordinal=0, start=0, end=11, text="It was one.", document=REF),
    ACCEPTED,
    undetermined(EXTRACTION, "scorer_failed", REF, "no answer"),
    Review(id="v", verdict=ACCEPTED, decision="supports", reviewer="ann", decided_at=NOW),
    DocumentReport(
        document=REF, extractions=1, accepted=1, quarantined=0, undetermined=0, verdict_ids=("v",)
    ),
    DeadLetter(id="x", stage="extract", source=COORDINATES, value="AA==", error="E", detail="why"),
    DriftWarning(
        id="w", measure="rate", observed=1, expected=0.5, limit=0.1, detail="up", raised_at=NOW
    ),
    ScorerRelease(
        slot="live",
        scorer="default",
        revision="r1",
        released_at=NOW,
        released_by="ann",
        reason="better",
    ),
    LearningEvent(
        id="l", run="r", step="started", at=NOW, by="learn", reviews=2, supported=1, unsupported=1
    ),
    AuditBlock(
        chain="accepted/0",
        index=0,
        previous="",
        entries=(AuditEntry(source=COORDINATES, verdict_id="v", sha256="0"),),
        hash="1",
    ),
]
KINDS = [type(event).__name__ for event in EVENTS]

json_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | json_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(json_text, inner, max_size=3),
    max_leaves=8,
)


class TestIds:
    """Ids: the same on every machine, and different for different things."""

    def test_an_id_is_pinned_because_old_topics_hold_it(self):
        assert stable_id("verdict", "a", "b") == "40ca1697172663b1e79da47cad8d8ce4"

    @given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
    def test_ids_are_equal_exactly_where_all_parts_are(self, left, right):
        assert (stable_id("k", *left) == stable_id("k", *right)) == (left == right)

    @given(st.text(min_size=2), st.data())
    def test_moving_a_boundary_between_parts_changes_the_id(self, joined, data):
        cuts = st.integers(0, len(joined))
        one, other = data.draw(cuts), data.draw(cuts)
        ids = [stable_id("k", joined[:cut], joined[cut:]) for cut in (one, other)]
        assert (ids[0] == ids[1]) == (one == other)

    def test_the_kind_is_part_of_the_id(self):
        assert stable_id("claim", "a") != stable_id("verdict", "a")
        assert stable_id("claim", "a") != stable_id("", "claim", "a")

    def test_a_digest_is_sha256_of_the_utf8(self):
        assert text_digest("") == (
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        assert text_digest("é") != text_digest("e\u0301")

    def test_lone_surrogates_neither_fail_nor_collide(self):
        assert len({text_digest(text) for text in ("?", "\ufffd", "\ud800", "\udfff")}) == 4

    @given(json_values)
    def test_canonical_json_does_not_depend_on_the_order_of_keys(self, value):
        def reversed_keys(part: Any) -> Any:
            if isinstance(part, dict):
                return {key: reversed_keys(part[key]) for key in reversed(part)}
            return [*map(reversed_keys, part)] if isinstance(part, list) else part

        text = canonical_json(value)
        assert canonical_json(reversed_keys(value)) == text
        assert json.loads(text) == value

    def test_canonical_json_takes_integers_of_any_size_and_no_nan(self):
        assert canonical_json({"b": 10**30, "a": "é"}) == '{"a":"é","b":1' + "0" * 30 + "}"
        with pytest.raises(ValueError, match="not JSON compliant"):
            canonical_json([math.nan])

    @pytest.mark.parametrize("change", ["id", "text", "entity_type", "value", "context"])
    def test_an_extraction_id_depends_on_each_part_of_the_finding(self, change):
        finding = {"id": "d", "text": "t", "entity_type": "T", "value": "1", "context": "c"}

        def identify(parts: dict[str, str]) -> str:
            ref = Document(id=parts["id"], text=parts["text"]).ref()
            return extraction_id(ref, parts["entity_type"], parts["value"], parts["context"])

        assert identify(finding) == identify(dict(finding))
        assert identify(finding) != identify(finding | {change: "other"})

    def test_an_extraction_id_tells_a_number_from_its_digits(self):
        assert extraction_id(REF, "T", 1, "c") != extraction_id(REF, "T", "1", "c")

    def test_where_a_document_was_read_is_no_part_of_an_id(self):
        moved = DOCUMENT.ref(COORDINATES.model_copy(update={"offset": 8}))
        assert extraction_id(REF, "T", 1, "c") == extraction_id(moved, "T", 1, "c")
        assert claim_id(REF, 0, "s") == claim_id(moved, 0, "s") != claim_id(REF, 1, "s")

    def test_a_verdict_id_depends_on_the_scorer_revision(self):
        assert verdict_id(EXTRACTION, REF, "r1") == ACCEPTED.id
        assert verdict_id(EXTRACTION, REF, "r2") != ACCEPTED.id
        assert verdict_id(EXTRACTION, None, "r1") != ACCEPTED.id

    @pytest.mark.parametrize("change", [{"aligner": "other"}, {"threshold": 0.7}])
    def test_a_verdict_id_depends_on_the_aligner_and_its_tau(self, change):
        aligned = ALIGNMENT.model_copy(update={"aligner": "a1"})
        moved = aligned.model_copy(update=change)
        assert verdict_id(EXTRACTION, REF, "r1", aligned) != verdict_id(
            EXTRACTION, REF, "r1", moved
        )


class TestHypothesis:
    """h(y): a value as a document would write it."""

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ("  in  camera\n", "in camera"),
            (True, "yes"),
            (False, "no"),
            (0, "0"),
            (2.5, "2.5"),
            (None, ""),
            ([], ""),
            ({}, ""),
            (["Lagos", "", None, "Abuja"], "Lagos; Abuja"),
            ({"yyyy": 2012, "mm": 1, "dd": 17}, "January 17, 2012"),
            ({"yyyy": "2012", "mm": "01", "dd": "07"}, "January 7, 2012"),
            ({"year": 2012, "month": "Jan", "day": 3}, "Jan 3, 2012"),
            ({"yyyy": 2013, "mm": None, "dd": None}, "2013"),
            ({"yyyy": 2013, "mm": 8, "dd": None}, "August 2013"),
            ({"yyyy": None, "mm": 8, "dd": 9}, "August 9"),
            ({"yyyy": 2013, "mm": 13, "dd": 1}, "13 1, 2013"),
            ({"mm": "9" * 5000}, "9" * 5000),
            ([{"yyyy": 2012, "mm": 2, "dd": 1}, {"yyyy": 2013}], "February 1, 2012; 2013"),
            (
                {"last_name": "Roe", "first_name": "Jane", "title": "Dr.", "suffix": None},
                "Dr. Jane Roe",
            ),
            ({"name": "Roe"}, "Roe"),
            ({"amount": 12.5, "currency_code": "CAD"}, "amount 12.5, currency code CAD"),
            ({"amount": 0, "note": {"by": None}, "tags": []}, "0"),
            ({"paid": False, "due": {"yyyy": 2012, "mm": 3}}, "paid no, due March 2012"),
        ],
    )
    def test_a_value_is_rendered_in_words(self, value, words):
        assert render_value(value) == words

    @given(json_values)
    def test_every_json_value_can_be_rendered(self, value):
        assert isinstance(render_value(value), str)

    def test_the_entity_type_leads_and_a_claim_stands_alone(self):
        assert hypothesis("Judge", "J. Roe") == "Judge: J. Roe"
        assert hypothesis(CLAIM_TYPE, "It rained.") == "It rained."

    @pytest.mark.parametrize(
        ("identifier", "name"),
        [
            ("PresidingJudge", "Presiding Judge"),
            ("presiding_judge", "Presiding Judge"),
            ("GPE", "GPE"),
            ("RPDNumber", "RPD Number"),
            ("Article2Right", "Article2 Right"),
            ("judge", "Judge"),
        ],
    )
    def test_an_identifier_becomes_words(self, identifier, name):
        assert entity_type_name(identifier) == name


class Day(BaseModel):
    yyyy: int
    mm: int | None = None


class DecisionDate(Entity):
    date: Day


class Party(Entity):
    entity_type = "Party To The Case"
    first_name: str
    last_name: str


class Hearing(BaseModel):
    dates: list[DecisionDate]
    chair: Party | None = None


class Case(BaseModel):
    hearing: Hearing
    parties: dict[str, Party] = {}
    pair: tuple[Party, ...] = ()
    number: int = 0


class TestEntity:
    """What users subclass."""

    def test_the_type_is_the_class_name_in_words_unless_it_is_set(self):
        assert DecisionDate.type_name() == "Decision Date"
        assert Party.type_name() == "Party To The Case"

    def test_a_single_payload_field_is_the_value_and_several_make_an_object(self):
        assert DecisionDate(context="c", date=Day(yyyy=2012)).payload() == {
            "yyyy": 2012,
            "mm": None,
        }
        party = Party(context="c", first_name="Jane", last_name="Roe")
        assert party.payload() == {"first_name": "Jane", "last_name": "Roe"}

    def test_the_type_is_the_title_of_the_json_schema_where_endpoints_see_it(self):
        assert Party.model_json_schema()["title"] == "Party To The Case"


class TestVerdict:
    """P2: nothing is accepted without evidence."""

    @pytest.mark.parametrize(
        "missing",
        [
            {"alignment": None},
            {"alignment": ALIGNMENT.model_copy(update={"score": 0.5})},
            {"alignment": ALIGNMENT.model_copy(update={"spans": ()})},
            {"alignment": ALIGNMENT.model_copy(update={"scored": False})},
            {"alignment": ALIGNMENT.model_copy(update={"low_evidence": True})},
            {"score": None},
            {"score": 0.4},
            {"threshold": None},
            {"threshold": 0.95},
        ],
    )
    def test_an_accepted_verdict_needs_each_piece_of_its_evidence(self, missing):
        fields = {name: getattr(ACCEPTED, name) for name in Verdict.model_fields}
        assert Verdict(**fields) == ACCEPTED
        with pytest.raises(ValidationError, match="needs its evidence or a reviewer"):
            Verdict(**fields | missing)

    def test_a_named_reviewer_stands_in_for_the_scorer(self):
        review = ReviewTrail(review_id="r", reviewer="ann")
        fields = {name: getattr(ACCEPTED, name) for name in Verdict.model_fields}
        accepted = Verdict(**fields | {"score": None, "threshold": None, "review": review})
        assert accepted.decision == "accepted"

    @pytest.mark.parametrize("decision", ["quarantined", "undetermined"])
    def test_a_verdict_that_stops_an_extraction_needs_a_reason(self, decision):
        fields = {name: getattr(ACCEPTED, name) for name in Verdict.model_fields}
        with pytest.raises(ValidationError, match="names a reason"):
            Verdict(**fields | {"decision": decision})

    def test_a_span_is_as_long_as_its_offsets_say(self):
        with pytest.raises(ValidationError, match="not as long"):
            Span(start=0, end=3, text="ab")


class TestJudge:
    """The decision rule, over every combination of what it looks at."""

    ALIGNMENTS = (
        ("found", {}),
        ("below", {"score": 0.59}),
        ("bound", {"scored": False, "route": "bound"}),
        ("no_span", {"spans": ()}),
    )
    SCORES = (
        ("pass", {"score": 0.9, "threshold": 0.5}),
        ("equal", {"score": 0.5, "threshold": 0.5}),
        ("low", {"score": 0.49, "threshold": 0.5}),
        ("unset", {"score": 0.9, "threshold": None}),
        ("failed", {"failure": "scorer_failed"}),
        ("not_finite", {"failure": "score_not_finite"}),
    )
    REASON_OF_SCORE = {  # noqa: RUF012
        "low": "unsupported",
        "unset": "no_threshold",
        "failed": "scorer_failed",
        "not_finite": "score_not_finite",
    }

    @pytest.mark.parametrize("low_evidence", [False, True])
    @pytest.mark.parametrize(("alignment", "score"), itertools.product(ALIGNMENTS, SCORES), ids=str)
    def test_decision_table(self, alignment, score, low_evidence):
        place, place_fields = alignment
        outcome, score_fields = score
        measured = ALIGNMENT.model_copy(update={**place_fields, "low_evidence": low_evidence})
        aligned = ALIGNED.model_copy(update={"alignment": measured})

        verdict = judge(aligned, Assessment(scorer="s", revision="r", **score_fields))

        expected = [
            *(["not_found"] if place != "found" else []),
            *(["low_evidence"] if low_evidence else []),
            *filter(None, [self.REASON_OF_SCORE.get(outcome)]),
        ]
        assert list(verdict.reasons) == expected
        if outcome in ("unset", "failed", "not_finite"):
            assert verdict.decision == "undetermined"
        else:
            assert verdict.decision == ("quarantined" if expected else "accepted")

    def test_the_verdict_carries_the_whole_trail(self):
        assert ACCEPTED.document == REF
        assert ACCEPTED.alignment == ALIGNMENT
        assert ACCEPTED.extractor == TRAIL
        assert ACCEPTED.hypothesis == "Hearing Date: January 17, 2012"
        assert (ACCEPTED.score, ACCEPTED.threshold) == (0.9, 0.5)
        assert (ACCEPTED.scorer, ACCEPTED.scorer_revision) == ("default", "r1")
        assert ACCEPTED.scorers == PASS.trail

    def test_a_rejection_by_alignment_is_quarantined_unscored(self):
        verdict = reject(EXTRACTION, "not_found", REF, ALIGNMENT)
        assert (verdict.decision, verdict.reasons) == ("quarantined", ("not_found",))
        assert verdict.score is verdict.scorer is None

    def test_what_could_not_be_judged_says_why(self):
        verdict = undetermined(EXTRACTION, "document_missing", None, "x" * 900)
        assert (verdict.decision, verdict.reasons) == ("undetermined", ("document_missing",))
        assert [len(finding.detail) for finding in verdict.findings] == [500]

    @pytest.mark.parametrize("fields", [{}, {"score": 0.5, "failure": "scorer_failed"}])
    def test_an_assessment_is_a_score_or_a_failure(self, fields):
        with pytest.raises(ValidationError, match="either a score or a failure"):
            Assessment(scorer="s", revision="r", **fields)

    @pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 1.01, -0.01])
    def test_a_score_is_a_probability(self, score):
        with pytest.raises(ValidationError):
            Assessment(scorer="s", revision="r", score=score, threshold=0.5)


class TestEvents:
    """The form of every record on a topic."""

    @pytest.mark.parametrize("event", EVENTS, ids=KINDS)
    def test_an_event_survives_json_byte_for_byte(self, event):
        encoded = event.to_json()
        decoded = type(event).model_validate_json(encoded)
        assert decoded == event
        assert decoded.to_json() == encoded

    @pytest.mark.parametrize("event", EVENTS, ids=KINDS)
    @pytest.mark.parametrize("change", [{"version": 2}, {"version": 0}, {"colour": 1}])
    def test_an_unknown_version_or_field_is_refused(self, event, change):
        changed = json.loads(event.to_json()) | change
        with pytest.raises(ValidationError):
            type(event).model_validate_json(json.dumps(changed))

    @pytest.mark.parametrize("event", EVENTS, ids=KINDS)
    def test_an_event_does_not_change(self, event):
        with pytest.raises(ValidationError, match="frozen"):
            event.version = 1

    @pytest.mark.parametrize("event", EVENTS, ids=KINDS)
    def test_no_number_of_an_event_may_be_nan(self, event):
        for path in _numbers(json.loads(event.to_json())):
            tree = json.loads(event.to_json())
            *parents, last = path
            holder = tree
            for key in parents:
                holder = holder[key]
            holder[last] = math.nan
            with pytest.raises(ValidationError):
                type(event).model_validate_json(json.dumps(tree))

    @pytest.mark.parametrize(
        "value", [math.nan, math.inf, {"a": [math.nan]}, "\ud800", {"\udc00": 1}]
    )
    def test_a_value_that_json_cannot_carry_is_refused(self, value):
        with pytest.raises(ValidationError):
            Extraction(id="e", doc_id="d", entity_type="T", value=value, context="c")
        with pytest.raises(ValidationError):
            Document(id="d", text="t", meta={"m": value})

    def test_a_value_nested_deeper_than_json_readers_go_is_refused(self):
        value: Any = 1
        for _ in range(50):
            value = [value]
        kept = Extraction(id="e", doc_id="d", entity_type="T", value=value, context="c")
        assert Extraction.model_validate_json(kept.to_json()) == kept
        with pytest.raises(ValidationError, match="nested more than 50 deep"):
            Extraction(id="e", doc_id="d", entity_type="T", value=[value], context="c")

    def test_a_null_value_is_no_value(self):
        with pytest.raises(ValidationError, match="value is null"):
            Extraction(id="e", doc_id="d", entity_type="T", value=None, context="c")

    @pytest.mark.parametrize("field", ["id", "text"])
    def test_a_lone_surrogate_is_refused_before_it_reaches_a_topic(self, field):
        with pytest.raises(ValidationError):
            Document(**{"id": "d", "text": "t", field: "a\ud800"})

    @given(value=json_values.filter(lambda value: value is not None), context=json_text)
    def test_any_json_value_survives_as_the_value_of_an_extraction(self, value, context):
        extraction = Extraction(id="e", doc_id="d", entity_type="T", value=value, context=context)
        assert Extraction.model_validate_json(extraction.to_json()) == extraction

    @pytest.mark.parametrize("event", EVENTS, ids=KINDS)
    def test_the_text_of_a_document_is_not_in_the_repr(self, event):
        assert TEXT not in repr(event)
        assert QUOTE not in repr(event).replace(ACCEPTED.hypothesis, "")

    def test_a_correction_carries_its_value(self):
        fields = {"id": "v", "verdict": ACCEPTED, "reviewer": "ann", "decided_at": NOW}
        assert Review(**fields, decision="corrected", value="x").value == "x"
        with pytest.raises(ValidationError, match="carries the corrected value"):
            Review(**fields, decision="corrected")
        with pytest.raises(ValidationError, match="carries the corrected value"):
            Review(**fields, decision="supports", value="x")

    def test_a_response_refers_to_its_passages_as_one_text(self):
        assert RESPONSE.text == "One.\n\nTwo."
        assert RESPONSE.ref() == Document(id="r", text="One.\n\nTwo.").ref()

    def test_a_claim_is_an_extraction_whose_hypothesis_is_the_sentence(self):
        claim = Claim(
            id="c", response_id="r", ordinal=0, start=0, end=4, text="Two.", document=RESPONSE.ref()
        )
        extraction = claim.extraction("One.")
        assert (extraction.id, extraction.doc_id) == ("c", "r")
        assert (extraction.hypothesis, extraction.context) == ("Two.", "One.")

    def test_the_score_of_a_document_is_its_accepted_share(self):
        report = DocumentReport(
            document=REF, extractions=4, accepted=1, quarantined=2, undetermined=1
        )
        assert report.score == 0.25
        empty = DocumentReport(
            document=REF, extractions=0, accepted=0, quarantined=0, undetermined=0
        )
        assert empty.score is None


def _numbers(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every number in ``tree``."""
    if isinstance(tree, bool):
        return []
    if isinstance(tree, int | float):
        return [path]
    if isinstance(tree, list):
        tree = dict(enumerate(tree))
    children = tree.items() if isinstance(tree, dict) else ()
    return [found for key, child in children for found in _numbers(child, (*path, key))]


def test_an_alignment_from_before_there_were_surroundings_is_read_and_written_as_it_was():
    """The fields that came later leave no trace in records and ids of earlier ones."""
    old = (
        b'{"score":1.0,"matches":4,"length":4,"unaligned":0,"threshold":0.6,'
        b'"spans":[{"start":0,"end":4,"text":"rent"}],"passages":[],"in_order":true,'
        b'"occurrences":1,"alternatives":[],"low_evidence":false,"scored":true,"route":"verbatim"}'
    )
    alignment = Alignment.model_validate_json(old)
    assert alignment.model_dump_json().encode() == old
    assert (alignment.before, alignment.after, alignment.heading) == ("", "", "")
    assert alignment.between == ()


def test_what_stands_around_several_passages_reads_from_the_general_to_the_special():
    """Headings before labels, each once; the outer sides apart from the inner ones."""

    def span(start, text):
        return Span(start=start, end=start + len(text), text=text)

    first = Surroundings(
        before=span(20, "he is "),
        after=span(31, " not a"),
        label=span(10, "Status"),
        heading=span(0, "Decision"),
    )
    second = Surroundings(
        before=span(32, "not a "), after=span(45, " here"), heading=span(0, "Decision")
    )
    alignment = Alignment(
        score=1.0,
        matches=4,
        length=4,
        unaligned=0,
        threshold=0.6,
        route="verbatim",
        surroundings=(first, second),
    )
    assert (alignment.before, alignment.after) == ("he is ", " here")
    assert alignment.heading == "Decision | Status"
    assert alignment.between == (" not a ",)
    assert Alignment.model_validate_json(alignment.model_dump_json()) == alignment


def test_surroundings_are_bounded():
    """Never the whole document, whoever wrote the record."""
    with pytest.raises(ValidationError):
        Surroundings(before=Span(start=0, end=401, text="x" * 401))


def test_a_language_that_the_scorer_does_not_read_is_undetermined():
    """Never a confident answer: whatever the alignment, a person decides."""
    failed = Assessment(scorer="s", revision="r", failure="language_not_covered")
    verdict = judge(ALIGNED, failed)
    assert (verdict.decision, verdict.reasons) == ("undetermined", ("language_not_covered",))


@pytest.mark.parametrize(
    ("places", "scatter"),
    [
        (((0, 5), (6, 9)), None),
        (((0, 5), (4, 9)), None),  # inexact neighbours that share a character
        (((5, 9), (0, 4)), "parts_out_of_order"),
        (((0, 5), (2_006, 2_009)), "parts_far_apart"),
    ],
)
def test_parts_are_one_passage_where_they_follow_each_other(places, scatter):
    spans = tuple(Span(start=a, end=b, text="x" * (b - a)) for a, b in places)
    in_order = places[0][1] <= places[1][0]
    quoted = ALIGNMENT.model_copy(update={"spans": spans, "in_order": in_order})
    assert quoted.scatter == scatter
    assert quoted.model_copy(update={"route": "retrieved"}).scatter is None
    assert judge(ALIGNED.model_copy(update={"alignment": quoted}), PASS).decision == (
        "quarantined" if scatter else "accepted"
    )


def test_an_answer_that_comes_whole_looks_as_it_did_before_there_were_parts():
    assert b"part" not in RESPONSE.to_json()
    assert b"in_parts" not in ACCEPTED.to_json()
    assert RESPONSE.complete
    assert not RESPONSE.ref().in_parts


def test_a_part_of_an_answer_carries_all_of_it_so_far():
    part = {**RESPONSE.model_dump(), "part": {"since": 11}}
    assert Response.model_validate(part).ref(COORDINATES).in_parts
    assert not Response.model_validate(part).complete
    with pytest.raises(ValidationError, match=r"part\.since is beyond the response"):
        Response.model_validate({**part, "part": {"since": 12}})


def test_no_public_name_shadows_a_builtin():
    offered = {name for name in vars(schemas) if not name.startswith("__")}
    assert "Verdict" in offered
    assert not offered & set(dir(builtins))


def test_the_record_of_a_warning_has_the_fields_that_it_had():
    (warning,) = (event for event in EVENTS if isinstance(event, DriftWarning))
    assert json.loads(warning.to_json()) == {
        "version": warning.version,
        "id": "w",
        "measure": "rate",
        "entity_type": None,
        "scorer_revision": None,
        "observed": 1.0,
        "expected": 0.5,
        "limit": 0.1,
        "detail": "up",
        "raised_at": "2026-11-21T00:00:00Z",
    }
