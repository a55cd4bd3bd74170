"""One call: the stream's verdicts, the same whoever asks and however."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from safepassage import Extraction, Result, Verifier
from safepassage.agents.aligner import Aligner
from safepassage.agents.claims import split_claims
from safepassage.agents.document_store import DocumentStore
from safepassage.extraction import as_events
from safepassage.pipeline import new_aligner
from safepassage.schemas import Document, Response, SchemaField, Verdict
from safepassage.schemas.rivals import with_rivals
from safepassage.scoring_worker import Scorer, load_scorer
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.stream_detector import StreamDetector
from safepassage.settings import JudgingSettings
from safepassage.streams.kafka.records import Received, Record
from safepassage.streams.offline.check import CheckInput, check
from safepassage.streams.settings import Settings
from safepassage.streams.topology import align_role, score_role
from safepassage.streams.wiring import assess_off_the_loop

from .scorers import WordScorer

TEXT = (
    "The Tenant shall pay a monthly rent of £1,250 on the first day of each month. "
    "The lease begins on 3 May 2021. A deposit of £1,500 is held by the agent."
)
SINGLE = SchemaField(name="begin", single=True)
EXTRACTIONS = [
    Extraction("Rent", "£1,250", quote="a monthly rent of £1,250"),
    Extraction("Rent", "£1,350", quote="a monthly rent of £1,250"),
    Extraction("Deposit", "£1,500", quote="A depozit of £1,500 is held"),
    Extraction("Guarantor", "Ann Lee", quote="guaranteed by Ann Lee of Leith"),
    Extraction("Begin", {"yyyy": 2021, "mm": 5, "dd": 3}, "begins on 3 May 2021", field=SINGLE),
    Extraction("Begin", "each month", "first day of each month", field=SINGLE),
]
ANSWER = "The monthly rent is £1,250. The monthly rent is not £1,250. Dogs are welcome."


class Store:
    """Gives one text, whatever it is asked for."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def get(self, _ref: object) -> str:
        return self._text


@pytest.fixture(scope="module")
def default_scorer() -> Iterator[Scorer]:
    loaded = load_scorer("default", packs=())
    yield loaded
    loaded.close()


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    with Verifier(WordScorer()) as made:
        yield made


async def streamed(events: list[object], text: str, scorer: Scorer) -> list[bytes]:
    """What the live steps of the roles `align` and `score` publish, as the bytes of the record."""
    store: DocumentStore = Store(text)  # type: ignore[assignment]
    record = Record("extractions", 0, 0, None, None)
    aligner = new_aligner(Settings())
    try:
        aligned = await align_role(aligner, store).step([Received(record, e) for e in events])
    finally:
        aligner.close()
    out = [outgoing.event for (outgoing,) in aligned]
    scoring = score_role(assess_off_the_loop(scorer), batch=512)
    scored = await scoring.step([Received(record, e) for e in out if not isinstance(e, Verdict)])
    verdicts = iter(outgoing.event for (outgoing,) in scored)
    return [(e if isinstance(e, Verdict) else next(verdicts)).to_json() for e in out]


async def test_verdicts_are_the_streams_and_checks_byte_for_byte(default_scorer: Scorer):
    document = Document(id="lease", text=TEXT)
    events = as_events(EXTRACTIONS, document.ref())
    live = await streamed(with_rivals(events), TEXT, default_scorer)

    verifier = Verifier(default_scorer)
    called = await asyncio.to_thread(verifier.verify, document, EXTRACTIONS)
    awaited = await verifier.averify(document, EXTRACTIONS)
    given = CheckInput(extractions=events, documents={"lease": document})
    aligner = new_aligner(Settings())
    checked = check(given, aligner, default_scorer)
    aligner.close()
    verifier.batches.close()

    assert [v.to_json() for v in called.verdicts] == live
    assert [v.to_json() for v in awaited.verdicts] == live
    assert [v.to_json() for v in checked] == live
    assert {v.decision for v in called.verdicts} == {"accepted", "quarantined"}


async def test_claims_get_the_streams_verdicts_byte_for_byte(default_scorer: Scorer):
    response = Response(id="answer", context=[TEXT, "Pets need consent."], response=ANSWER)
    live = await streamed(split_claims(response, response.ref()), response.text, default_scorer)

    verifier = Verifier(default_scorer)
    called = await asyncio.to_thread(
        verifier.claims, [TEXT, "Pets need consent."], ANSWER, id="answer"
    )
    awaited = await verifier.aclaims((TEXT, "Pets need consent."), ANSWER, id="answer")
    checked = check(CheckInput(responses=[response]), Aligner(), default_scorer)
    verifier.batches.close()

    assert len(live) == 3
    assert [v.to_json() for v in called.verdicts] == live
    assert [v.to_json() for v in awaited.verdicts] == live
    assert [v.to_json() for v in checked] == live


def test_a_text_is_named_by_its_digest_and_the_same_call_gives_the_same_ids(verifier: Verifier):
    one = verifier.verify(TEXT, EXTRACTIONS)
    two = verifier.verify(TEXT, EXTRACTIONS)
    assert [v.to_json() for v in one.verdicts] == [v.to_json() for v in two.verdicts]
    assert one.verdicts[0].doc_id == Document(id="x", text=TEXT).ref().digest
    assert verifier.claims(TEXT, ANSWER).verdicts[0].doc_id != one.verdicts[0].doc_id


def test_every_extraction_is_accepted_stopped_or_undetermined(verifier: Verifier):
    found = verifier.verify(TEXT, [*EXTRACTIONS, Extraction("Rent", "x", quote="y" * 6_000)])
    assert {v.entity_type for v in found.accepted} >= {"Rent", "Deposit"}
    assert found.undetermined[0].reasons == ("context_too_long",)
    parts = (*found.accepted, *found.stopped, *found.undetermined)
    assert sorted(v.id for v in parts) == sorted(v.id for v in found.verdicts)
    assert len(found.verdicts) == len(EXTRACTIONS) + 1


def test_feedback_tells_the_reasons_and_nothing_of_what_passed(verifier: Verifier):
    told = verifier.verify(TEXT, EXTRACTIONS[:4]).feedback()
    assert "Rent: £1,350" in told
    assert "The quote is not in the document." in told
    assert "value differs: the passage differs" in told
    assert "Rent: £1,250\n" not in told
    assert "Deposit" not in told
    assert verifier.verify(TEXT, EXTRACTIONS[:1]).feedback() == ""


def test_feedback_on_a_sentence_speaks_of_no_quote(verifier: Verifier):
    told = verifier.claims([TEXT], "Quantum chromodynamics binds quarks.").feedback()
    assert "No retrieved passage has words of the sentence." in told
    assert "quote" not in told.casefold()


def test_printed_it_has_a_line_for_each_and_why_where_one_was_stopped(verifier: Verifier):
    hostile = Extraction("No\x1b[2Jte", "\x1b[2Jrent", quote="a monthly rent")
    accepted, stopped, *why = str(verifier.verify(TEXT, [*EXTRACTIONS[:2], hostile])).splitlines()
    assert accepted.startswith("accepted     Rent: £1,250 (score ")
    assert stopped.startswith("quarantined  Rent: £1,350 (score ")
    assert why[0].startswith("  ")
    assert not any("\x1b" in line for line in why)


def test_the_default_detector_says_of_sentences_what_the_stream_says(default_scorer: Scorer):
    verifier = Verifier(default_scorer)
    context = (TEXT, "The kitchen was painted in June.")
    verdicts = verifier.claims(context, ANSWER).verdicts
    [found] = StreamDetector("default", default_scorer).ground([Answer(context, ANSWER)])
    assert [verdict.reasons for verdict in verdicts][-1] == ("not_found",)
    assert [claim.score for claim in found.claims[:-1]] == [v.score for v in verdicts[:-1]]
    assert found.claims[-1].score is not None
    assert found.claims[-1].score < 0.3


@pytest.mark.parametrize(
    "wrong",
    [
        Extraction("", "secret", quote="q"),
        Extraction("Rent", None, quote="q"),
        Extraction("Rent", float("nan"), quote="q"),
        Extraction("Rent", object(), quote="q"),
        Extraction("Rent", "secret \ud800", quote="q"),
    ],
)
def test_what_is_no_extraction_is_refused_before_anything_is_judged(
    verifier: Verifier, wrong: Extraction
):
    with pytest.raises(ValueError, match="extraction 2: ") as refused:
        verifier.verify(TEXT, [EXTRACTIONS[0], wrong])
    assert "secret" not in str(refused.value)
    assert verifier.scorer.calls == []


def test_one_id_for_two_extractions_is_refused(verifier: Verifier):
    pair = [Extraction("Rent", v, quote="rent", id="same") for v in ("£1,250", "£1,350")]
    with pytest.raises(ValueError, match="names two"):
        verifier.verify(TEXT, pair)


def test_a_verifier_rests_on_the_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SAFEPASSAGE_ALIGNMENT_THRESHOLD", "0.99")
    with Verifier(WordScorer()) as strict:
        found = strict.verify(TEXT, [EXTRACTIONS[2]])
    assert found.stopped[0].reasons == ("not_found",)
    assert JudgingSettings().alignment_threshold == Settings().alignment_threshold == 0.99


# --- asking again -----------------------------------------------------------------------------


def test_nobody_is_asked_again_unless_something_was_stopped(verifier: Verifier):
    def never(_: Result) -> list[Extraction]:
        raise AssertionError

    assert verifier.verify(TEXT, EXTRACTIONS[:1], reask=never).verdicts[0].attempt == 1


def test_what_was_stopped_is_asked_again_once_and_the_verdict_says_so(verifier: Verifier):
    asked: list[str] = []

    def reask(result: Result) -> list[Extraction]:
        asked.append(result.feedback())
        return [Extraction("Deposit", "£1,500", "A deposit of £1,500"), EXTRACTIONS[1]]

    given = [EXTRACTIONS[0], EXTRACTIONS[1], EXTRACTIONS[3]]
    found = verifier.verify(TEXT, given, reask=reask)
    assert len(asked) == 1
    assert [(v.entity_type, v.decision, v.attempt) for v in found.verdicts] == [
        ("Rent", "accepted", 1),
        ("Deposit", "accepted", 2),
        ("Rent", "quarantined", 1),  # given again as it was: the first attempt's
    ]
    assert [v.entity_type for v in found.replaced] == ["Guarantor"]
    assert b'"attempt":2' in found.verdicts[1].to_json()
    assert b"attempt" not in found.verdicts[0].to_json()


def test_a_second_answer_that_contradicts_what_was_accepted_is_not_accepted_beside_it(
    verifier: Verifier,
):
    rent = SchemaField(name="rent", single=True)
    good = Extraction("Rent", "£1,250", quote="a monthly rent of £1,250", field=rent)
    bad = Extraction("Rent", "£9", quote="a rent of nine pounds sterling a week", field=rent)
    other = Extraction("Rent", "£1,500", quote="A deposit of £1,500", field=rent)
    found = verifier.verify(TEXT, [good, bad], reask=lambda _: [other])
    assert [v.reasons for v in found.verdicts] == [("conflicting",), ("conflicting",)]


async def test_asking_again_may_be_async(verifier: Verifier):
    async def reask(_: Result) -> list[Extraction]:
        await asyncio.sleep(0)
        return [EXTRACTIONS[0]]

    found = await verifier.averify(TEXT, EXTRACTIONS[1:2], reask=reask)
    assert [(v.decision, v.attempt) for v in found.verdicts] == [("accepted", 2)]
    same = await verifier.averify(TEXT, EXTRACTIONS[1:2], reask=lambda _: [EXTRACTIONS[0]])
    assert same.verdicts == found.verdicts


def test_a_sentence_that_claims_nothing_has_no_verdict_and_is_counted(verifier: Verifier):
    result = verifier.claims(TEXT, "The appeal was dismissed. I hope this helps!")
    assert [verdict.value for verdict in result.verdicts] == ["The appeal was dismissed."]
    assert result.without_claim == 1
