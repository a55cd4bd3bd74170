"""The aligner: one result an extraction, in order, whatever happens to the others."""

import asyncio
import errno
import time

import pytest

from safepassage.agents import aligner as aligner_module
from safepassage.agents.aligner import Aligner
from safepassage.agents.alignment import AlignmentTimeoutError, DocumentIndex
from safepassage.passages.surroundings import DocumentLayout
from safepassage.schemas import (
    AlignedExtraction,
    Document,
    Extraction,
    Span,
    Surroundings,
    Verdict,
    judge,
)
from safepassage.schemas.decision_rule import Assessment

TEXT = (
    "The claimant is a citizen of Turkey. The hearing was held on June 19, 2013 in Toronto. "
    "The panel finds that the claimant is not a Convention refugee."
)
DOCUMENT = Document(id="d1", text=TEXT)


def extraction(context, identity="e1"):
    return Extraction(
        id=identity, doc_id="d1", entity_type="Citizenship", value="Turkey", context=context
    )


@pytest.fixture
def aligner():
    made = Aligner()
    yield made
    made.close()


async def align(aligner, *contexts, document=DOCUMENT):
    extractions = [extraction(context, f"e{n}") for n, context in enumerate(contexts)]
    return await aligner.align(document.text, document.ref(), extractions)


def reasons(results):
    return [result.reasons if isinstance(result, Verdict) else () for result in results]


async def test_results_come_in_the_order_of_the_extractions(aligner):
    """Found, blank and invented contexts each get their own result."""
    results = await align(
        aligner, "citizen of Turkey", " \n", "he crossed the border by night", "HEARING WAS HELD"
    )
    assert reasons(results) == [(), ("empty_context",), ("not_found",), ()]
    assert [
        r.extraction.id if isinstance(r, AlignedExtraction) else r.extraction_id for r in results
    ] == ["e0", "e1", "e2", "e3"]


async def test_an_aligned_extraction_shows_the_slice_of_its_document(aligner):
    """Spans are slices of the original text and the document is named."""
    [found] = await align(aligner, "CITIZEN of  turkey")
    [span] = found.alignment.spans
    assert TEXT[span.start : span.end] == span.text == "citizen of Turkey"
    assert found.document == DOCUMENT.ref()


async def test_what_stands_around_the_quote_comes_apart_from_it(aligner):
    """The denial that the quote cuts off, as an exact slice beside the passage."""
    [found] = await align(aligner, "a Convention refugee")
    assert found.alignment.passage == "a Convention refugee"
    assert found.alignment.before == "The panel finds that the claimant is not "
    assert found.alignment.after == "."
    [around] = found.alignment.surroundings
    assert TEXT[around.before.start : around.before.end] == around.before.text


async def test_tau_and_the_aligners_version_are_part_of_a_verdicts_id():
    """Another of either may lead to another verdict, which must not look like a repetition."""
    assessment = Assessment(scorer="s", revision="r", score=0.9, threshold=0.5)
    ids = set()
    for tau in (0.6, 0.7):
        [found] = await align(Aligner(threshold=tau), "citizen of Turkey")
        later = found.alignment.model_copy(update={"aligner": "x"})
        ids.add(judge(found, assessment).id)
        ids.add(judge(found.model_copy(update={"alignment": later}), assessment).id)
    assert len(ids) == 4


async def test_parts_out_of_order_are_a_decision(aligner):
    """However sure the scorer is of the joined parts."""
    [found] = await align(aligner, "is not a Convention refugee ... is a citizen of Turkey")
    verdict = judge(found, Assessment(scorer="s", revision="r", score=0.99, threshold=0.5))
    assert (verdict.decision, verdict.reasons) == ("quarantined", ("low_evidence",))
    assert [finding.code for finding in verdict.findings] == ["parts_out_of_order"]


async def test_an_extraction_fails_alone_where_its_surroundings_are_no_slices(aligner, monkeypatch):
    """A defect there is held like one of a span: by verdict, and never shown as the document's."""
    wrong = Surroundings(before=Span(start=0, end=4, text="Thus"))
    monkeypatch.setattr(DocumentLayout, "around", lambda *_: (wrong,))
    assert reasons(await align(aligner, "citizen of Turkey")) == [("alignment_failed",)]


async def test_no_extractions_give_no_results(aligner):
    """An empty batch is answered by an empty list."""
    assert await align(aligner) == []


async def test_an_empty_document_holds_no_quote(aligner):
    """Nothing is found in a document without text, and nothing fails."""
    assert reasons(await align(aligner, "x", document=Document(id="d1", text=""))) == [
        ("not_found",)
    ]


async def test_a_context_that_is_too_long_is_refused_alone():
    """Its verdict says how long it was; its neighbour is aligned."""
    aligner = Aligner(max_context_characters=20)
    long, short = await align(aligner, "x" * 21, "citizen of Turkey")
    assert (long.decision, long.reasons) == ("undetermined", ("context_too_long",))
    assert "21 characters" in long.findings[0].detail
    assert isinstance(short, AlignedExtraction)


async def test_a_document_that_is_too_long_is_refused_for_all_its_extractions():
    """No part of it is aligned in silence."""
    aligner = Aligner(max_document_characters=len(TEXT) - 1)
    results = await align(aligner, "citizen of Turkey", "Toronto")
    assert reasons(results) == [("document_too_long",)] * 2


async def test_the_defaults_take_long_documents_and_contexts():
    """500,000 characters of document and 5,000 of context are within the limits."""
    text = TEXT + " filler" * 71_000
    context = text[:5_000]
    [found] = await align(Aligner(), context, document=Document(id="d1", text=text))
    assert found.alignment.score == 1.0


async def test_an_error_in_one_extraction_loses_no_other(aligner, monkeypatch):
    """It becomes an undetermined verdict that names the error's class and none of the text."""
    whole = DocumentIndex.align

    def failing(self, context, **options):
        if context == "citizen of Turkey":
            raise RuntimeError(f"secret {context}")
        return whole(self, context, **options)

    monkeypatch.setattr(DocumentIndex, "align", failing)
    failed, found = await align(aligner, "citizen of Turkey", "in Toronto")
    assert (failed.decision, failed.reasons) == ("undetermined", ("alignment_failed",))
    assert failed.findings[0].detail == "RuntimeError"
    assert isinstance(found, AlignedExtraction)


async def test_a_full_disk_is_named_by_what_the_system_says(aligner, monkeypatch):
    """The table of languages is unpacked into the folder of temporary files."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(DocumentIndex, "align", full)
    [failed] = await align(aligner, "citizen of Turkey")
    assert (failed.decision, failed.reasons) == ("undetermined", ("alignment_failed",))
    assert failed.findings[0].detail == "OSError: No space left on device"


async def test_a_span_that_is_no_slice_is_not_emitted(aligner, monkeypatch):
    """A defect in the offsets ends as an undetermined verdict, not as false evidence."""
    shifted = DocumentIndex("x" + TEXT).align("citizen of Turkey")
    monkeypatch.setattr(DocumentIndex, "align", lambda *_, **__: shifted)
    assert reasons(await align(aligner, "citizen of Turkey")) == [("alignment_failed",)]


async def test_a_timeout_is_undetermined(aligner, monkeypatch):
    """What is not measured in time is neither accepted nor called invented."""

    def late(*_, **__):
        raise AlignmentTimeoutError

    monkeypatch.setattr(DocumentIndex, "align", late)
    [verdict] = await align(aligner, "citizen of Turkey")
    assert (verdict.decision, verdict.reasons) == ("undetermined", ("alignment_timeout",))


async def test_a_document_that_takes_too_long_ends_by_itself():
    """The deadline reaches the sweep over a long document."""
    aligner = Aligner(timeout_seconds=0.0)
    text = "the claimant said so " * 2_000
    document = Document(id="d1", text=text)
    sought, verbatim = await align(aligner, "zqx jkv wpf " * 20, text[:50], document=document)
    assert sought.reasons == ("alignment_timeout",)
    assert isinstance(verbatim, AlignedExtraction)


async def test_low_evidence_goes_on_and_is_stopped_by_the_judgement(aligner):
    """A short inexact quote is aligned, marked, and cannot be accepted whatever its score."""
    [aligned] = await align(aligner, "in Toranta fe")
    assert aligned.alignment.low_evidence
    sure = Assessment(scorer="s", revision="r", score=1.0, threshold=0.5)
    assert judge(aligned, sure).reasons == ("low_evidence",)


async def test_the_scorer_sees_the_digit_that_the_alignment_cut_off(aligner):
    """A wrong year is not caught by alignment; the passage shows the right one."""
    [aligned] = await align(aligner, "The hearing was held on June 19, 2014")
    assert aligned.alignment.spans[0].text.endswith("June 19, 201")
    assert aligned.alignment.passage.endswith("June 19, 2013")


async def test_batches_of_one_document_share_its_index(aligner, monkeypatch):
    """The document is indexed once, however its extractions are spread over calls."""
    made = []

    class Counted(DocumentIndex):
        def __init__(self, text):
            made.append(text)
            super().__init__(text)

    monkeypatch.setattr(aligner_module, "DocumentIndex", Counted)
    for context in ("citizen", "Toronto", "panel"):
        await align(aligner, context)
    assert made == [TEXT]


async def test_the_indexes_kept_are_bounded(monkeypatch):
    """The least recently used index goes first, and one that is too large is not kept."""
    aligner = Aligner(indexed_characters=100)
    texts = ["a" * 60, "b" * 60, "c" * 200]
    for text in texts:
        await align(aligner, "aaaa", document=Document(id="d1", text=text))
    assert [kept.index.text for kept in aligner._prepared._kept.values()] == []
    await align(aligner, "aaaa", document=Document(id="d1", text=texts[0]))
    await align(aligner, "aaaa", document=Document(id="d1", text=texts[1]))
    assert [kept.index.text for kept in aligner._prepared._kept.values()] == [texts[1]]


async def test_texts_of_one_digest_are_not_confused(aligner):
    """A lone surrogate hashes like any other: the index is made of the text at hand."""
    for text in ("bad \ud800 byte", "bad \ud801 byte"):
        [found] = await aligner.align(text, DOCUMENT.ref(), [extraction("bad ? byte")])
        assert found.alignment.spans[0].text == text


async def test_the_event_loop_goes_on_while_a_document_is_aligned(aligner):
    """A worker answers heartbeats: other tasks run during a long alignment."""
    text = "".join(f"{n} the claimant said so. " for n in range(4_000))
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    heart = asyncio.create_task(beat())
    started = time.monotonic()
    while time.monotonic() < started + 0.2:  # several alignments, however fast the machine
        await align(
            aligner, "wholly invented words of no origin", document=Document(id="d1", text=text)
        )
        during = beats
    heart.cancel()
    assert during > 0
