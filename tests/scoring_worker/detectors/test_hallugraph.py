"""HalluGraph: EG and RP over graphs that are read without a model."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from safepassage.schemas.evidence import MAX_TRIPLES
from safepassage.scoring_worker.comparison.contract import Place
from safepassage.scoring_worker.comparison.rules_version import rules_revision
from safepassage.scoring_worker.detectors.contract import Answer, Detector, DetectorSettings
from safepassage.scoring_worker.detectors.hallugraph import local_graphs as local
from safepassage.scoring_worker.detectors.hallugraph.detector import NO_ENTITIES, HalluGraph
from safepassage.scoring_worker.detectors.hallugraph.entailment import Entailment, Support
from safepassage.scoring_worker.detectors.hallugraph.fidelity import compare
from safepassage.scoring_worker.detectors.hallugraph.graph import Edge, Entity, Graph, Graphs
from safepassage.scoring_worker.detectors.hallugraph.local_graphs import LocalExtractor
from safepassage.scoring_worker.detectors.hallugraph.matching import Matcher
from safepassage.scoring_worker.detectors.hallugraph.mentions import mentions, vocabulary
from safepassage.scoring_worker.detectors.registry import load_detector
from safepassage.scoring_worker.packs.registry import packs_named
from tests.scoring_worker.detectors.doubles import Entails, WordScorer

CONTEXT = (
    "The Acme Corporation sued John Smith on 1 May 2019 in the High Court. "
    "The court ordered John Smith to pay 900 euros to the Acme Corporation.",
    "The World Health Organization (file AB-1234) was not heard. Jane Roe appeared.",
)
SOME = "The|John|Smith|Acme|sued|paid|900|euros|1|May|2019|not|the|court|.|\n|é"
words = st.lists(st.sampled_from(SOME.split("|")), max_size=25).map(" ".join)


def entity(text: str, kind: str = "name") -> Entity:
    return Entity(text, kind)  # type: ignore[arg-type]


def found(sentence: str, *texts: str) -> list[tuple[str, str]]:
    known = vocabulary((text, "en") for text in (sentence, *texts))
    return [(m.entity.text, m.entity.kind) for m in mentions(sentence, known, "en")]


def judged(
    response: str, query: str = "", context: tuple[str, ...] = CONTEXT, denied: tuple[str, ...] = ()
):
    """What is said of ``response`` where the reader denies its sentences with one of ``denied``."""
    detector = HalluGraph("hallugraph", LocalExtractor(), Entails(*denied))  # type: ignore[arg-type]
    [grounding] = detector.ground([Answer(context, response, query)])
    return grounding


def test_what_a_sentence_speaks_of():
    assert found(
        "On 1 May 2019 John Smith of Acme paid $1,200.50 to the court (smith@acme.org)."
    ) == [
        ("1 May 2019", "date"),
        ("John Smith of Acme", "name"),
        ("$1,200.50", "figure"),
        ("court", "term"),
        ("smith@acme.org", "identifier"),
    ]


def test_an_article_of_one_language_is_none_of_another():
    said = "La demande a été rejetée."
    french, unknown = (vocabulary([(said, language)]).nouns for language in ("fr", None))
    assert french == {"demand"}
    assert french < unknown


def test_the_capital_that_begins_a_sentence_names_nobody_unless_it_stands_elsewhere_too():
    assert found("Heating was paid.") == []
    assert found("Heating was paid.", "The firm Heating paid.") == [("Heating", "name")]
    assert found("NATO was heard.") == [("NATO", "name")]


@pytest.mark.parametrize(
    ("answer", "reference", "match"),
    [
        ("John Smith", ["John Smith"], True),
        ("Smith", ["John Smith"], True),
        ("John Smith", ["Smith"], True),
        ("John Smith", ["Jane Smith"], False),
        ("John Smith", ["Smith", "Jane Smith"], False),  # whose part it is, nobody knows
        ("WHO", ["World Health Organization"], True),
        ("World Health Organization", ["WHO"], True),
        ("World Trade Organization", ["World Health Organization"], False),
        ("Berlin", ["Paris"], False),
    ],
)
def test_names_match_in_both_directions(answer, reference, match):
    matcher = Matcher(Graph(tuple(entity(text) for text in reference)))
    assert bool(matcher.matches(entity(answer))) == match


@pytest.mark.parametrize(
    ("kind", "answer", "reference", "match"),
    [
        ("figure", "900 euros", "€900", True),
        ("figure", "1,200.50", "1200.50", True),
        ("figure", "901", "900", False),
        ("figure", "5 mg", "5 g", False),
        ("date", "1 May 2019", "May 1, 2019", True),
        ("date", "May 2019", "1 May 2019", True),
        ("date", "1 May 2019", "May 2019", False),
        ("date", "1 May 2019", "2 May 2019", False),
        ("identifier", "AB-1234", "AB 1234", True),
        ("identifier", "AB-1234", "AB-1235", False),
        ("term", "courts", "the high court", True),
        ("term", "boards", "the high court", False),
        ("term", "dismissal", "dismissed", True),
    ],
)
def test_everything_else_matches_exactly(kind, answer, reference, match):
    matcher = Matcher(Graph((entity(reference, kind),)))
    assert bool(matcher.matches(entity(answer, kind))) == match


def test_eg_is_the_share_of_entities_and_rp_the_share_of_edges():
    one, two, three = entity("Ann Roe"), entity("Ben Low"), entity("Cy Young")
    sued, paid = Edge(one, "sued", two, Place(0, 9)), Edge(two, "paid", three, Place(0, 9))
    reference = Graph((one, two), (Edge(one, "sued", two),))
    said = Graph((one, two, three), (sued, paid))
    fidelity = compare(Graphs(said, reference), [Support(0, 9, 1.0)])
    assert fidelity.entity_grounding == pytest.approx(2 / 3)
    assert fidelity.relation_preservation == pytest.approx(1 / 2)
    assert fidelity.joined(0.5) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert fidelity.score == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_an_empty_graph_is_undetermined_and_never_1():
    fidelity = compare(Graphs(Graph(), Graph((entity("Ann Roe"),))))
    assert (fidelity.entity_grounding, fidelity.relation_preservation, fidelity.score) == (
        None,
        None,
        None,
    )
    grounding = judged("yes.")
    assert (grounding.score, grounding.failure) == (None, NO_ENTITIES)


def test_without_any_context_nothing_is_grounded():
    assert judged("John Smith paid 900 euros.", context=()).score == 0.0


def test_an_answer_that_copies_its_passages_is_wholly_grounded():
    grounding = judged(CONTEXT[0])
    assert grounding.score == 1.0
    assert grounding.evidence.unsupported == ()
    assert {t.status for t in grounding.evidence.triples} == {"supported"}
    for triple in grounding.evidence.triples:
        assert triple.rests_on
        assert triple.rests_on.passage == 0


def test_a_missing_entity_is_named_at_its_place():
    response = "Acme Corporation sued Peter Brown."
    grounding = judged(response)
    [span] = grounding.evidence.unsupported
    assert response[span.start : span.end] == "Peter Brown"
    [triple] = grounding.evidence.triples
    assert (triple.status, triple.missing) == ("missing_entity", ("Peter Brown",))
    assert grounding.evidence.measures == {"EG": 0.5, "RP": 0.0}


@pytest.mark.parametrize(
    ("response", "status"),
    [
        ("Acme Corporation sued John Smith.", "supported"),
        ("John Smith was sued by Acme Corporation.", "supported"),
        ("John Smith sued Acme Corporation.", "unsupported"),  # the roles are exchanged
        ("Acme Corporation employed John Smith.", "unsupported"),
        ("Acme Corporation did not sue John Smith.", "unsupported"),
    ],
)
def test_a_relation_has_to_be_said_by_the_passages(response, status):
    denied = ("John Smith sued", "employed", "did not")
    [triple] = judged(response, denied=denied).evidence.triples
    assert triple.status == status
    assert bool(triple.rests_on) == (status == "supported")


def test_what_the_query_names_is_not_invented_by_the_answer():
    assert judged("Peter Brown sued nobody.").evidence.measures["EG"] == 0.0
    asked = judged("Peter Brown sued nobody.", query="What of Peter Brown?", denied=("nobody",))
    assert asked.evidence.measures == {"EG": 1.0, "RP": 0.0}


def test_each_claim_is_judged_by_what_stands_in_it():
    response = "Acme Corporation sued John Smith. That was it then. Peter Brown paid 700 euros."
    first, second, third = judged(response).claims
    assert (first.score, first.failure) == (1.0, None)
    assert (second.score, second.failure) == (None, NO_ENTITIES)
    assert third.score == 0.0
    assert response[third.start : third.end].startswith("Peter")


def test_texts_that_are_too_long_are_undetermined_and_leave_the_others_alone(monkeypatch):
    monkeypatch.setattr(local, "MAX_CHARACTERS", 500)
    detector = HalluGraph("hallugraph", LocalExtractor())
    long, short = detector.ground([Answer(("a" * 500,), "b"), Answer(CONTEXT[:1], "John Smith.")])
    assert (long.score, long.failure) == (None, "texts_too_long")
    assert short.score == 1.0


def test_the_evidence_is_bounded_and_keeps_what_is_wrong():
    copied = " ".join(CONTEXT[0] for _ in range(80))
    grounding = judged(f"{copied} Peter Brown paid 700 euros.")
    assert len(grounding.evidence.triples) == MAX_TRIPLES
    assert grounding.evidence.triples[0].status == "missing_entity"


@settings(deadline=None)  # the first text loads lexicons
@given(context=words, response=words, query=words)
def test_any_answer_has_measures_in_bounds_and_places_that_are_exact(context, response, query):
    grounding = judged(response, query, (context,))
    assert (grounding.score is None) == (grounding.failure is not None)
    assert all(0.0 <= share <= 1.0 for share in grounding.evidence.measures.values())
    for triple in grounding.evidence.triples:
        assert triple.place
        part = response[triple.place.start : triple.place.end]
        assert part.startswith(triple.subject)
        assert part.endswith(triple.object)


@settings(deadline=None)
@given(words)
@example("May 1 é 1 The")
def test_an_answer_is_grounded_in_itself(text):
    grounding = judged(text, context=(text,))
    assert grounding.score in (None, 1.0)


def test_a_reader_that_has_failed_leaves_the_answer_undetermined():
    reads = Entailment(WordScorer())
    detector = HalluGraph("hallugraph", LocalExtractor(), reads)
    broken, whole = detector.ground(
        [Answer(("John Smith is broken.",), "John Smith paid."), Answer(CONTEXT, CONTEXT[0])]
    )
    assert (broken.score, broken.failure) == (None, "scorer_failed")
    assert whole.score is not None


def test_an_edge_is_supported_as_far_as_the_sentence_that_states_it():
    detector = HalluGraph("hallugraph", LocalExtractor())
    answer = Answer(CONTEXT, "Acme Corporation sued John Smith.")
    [found] = detector.drawn([answer], [(Support(0, len(answer.response), 0.4),)])
    assert found.evidence.measures == {"EG": 1.0, "RP": 0.4}
    assert found.score == pytest.approx(0.7)
    assert found.score >= HalluGraph.threshold
    [failed] = detector.drawn([answer], ["scorer_failed"])
    assert failed.score is None


def test_the_registry_loads_it():
    detector = load_detector("hallugraph", DetectorSettings(loaded=WordScorer()))
    assert isinstance(detector, Detector)
    assert detector.revision.startswith(f"hallugraph-{rules_revision()}-")
    detector.close()


LAW = (
    "Under Section 12(3) of the Rent Act 1977 the landlord may ask the County Court for possession."
    " Article 5 gives the tenant a defence."
)


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("s. 12(3) lets the landlord ask the court.", []),
        ("§ 12 (3) lets the landlord ask the County Court.", []),
        ("Article 12(3) lets the landlord ask the court.", ["Article 12(3)"]),
        ("Section 13(3) lets the landlord ask the court.", ["Section 13(3)"]),
        ("Section 12(3) lets the guarantor ask the court.", ["guarantor"]),
        ("Section 12(3) lets the landlord ask the Supreme Court.", ["Supreme Court"]),
    ],
)
def test_with_the_pack_of_law_provisions_courts_and_parties_are_entities(answer, missing):
    extractor = LocalExtractor(packs=packs_named(["legal"]))
    [grounding] = HalluGraph("hallugraph", extractor).ground([Answer((LAW,), answer)])
    spans = [answer[s.start : s.end] for s in grounding.evidence.unsupported]
    assert [span for span in spans if span in {*missing, "landlord", "court"}] == missing


def test_the_default_knows_no_lexicon_of_law():
    kinds = dict(found("Section 12 binds the landlord."))
    assert "thing" not in kinds.values()
    assert LocalExtractor().revision != LocalExtractor(packs=packs_named(["legal"])).revision
