"""The bundled corpus is what the demo and the tests take it for."""

from collections import Counter
from functools import lru_cache

import pytest

from safepassage.agents.alignment import DocumentIndex
from safepassage.agents.claims import split_claims
from safepassage.agents.extraction.schema_loading import load_schema
from safepassage.schemas import Alignment, LabelledExtraction
from safepassage.streams.demo.corpus import (
    SCHEMA,
    documents,
    extractions,
    response_labels,
    responses,
)

DOCUMENTS = {document.id: document for document in documents()}
EXTRACTIONS = extractions()
SUPPORTED_KINDS = {"natural", "hard_positive", "unreadable"}
UNSUPPORTED_KINDS = {
    "wrong_value",
    "wrong_type",
    "bad_grounding",
    "over_normalised",
    "fabricated_context",
    "other_passage",
    "negation",
    "conflicting",
}


@lru_cache(maxsize=len(DOCUMENTS))
def index(doc_id: str) -> DocumentIndex:
    return DocumentIndex(DOCUMENTS[doc_id].text)


def aligned(extraction: LabelledExtraction) -> Alignment:
    return index(extraction.doc_id).align(extraction.context)


def by_kind(*kinds: str) -> list[LabelledExtraction]:
    return [extraction for extraction in EXTRACTIONS if extraction.kind in kinds]


def test_ids_are_unique():
    assert len({document.id for document in documents()}) == len(documents())
    assert len({extraction.id for extraction in EXTRACTIONS}) == len(EXTRACTIONS)
    assert len({response.id for response in responses()}) == len(responses())


def test_every_document_has_eight_to_fourteen_extractions():
    counts = Counter(extraction.doc_id for extraction in EXTRACTIONS)
    assert counts.keys() == DOCUMENTS.keys()
    assert all(8 <= count <= 14 for count in counts.values())


def test_kinds_of_documents_are_as_promised():
    kinds = Counter(document.meta["kind"] for document in DOCUMENTS.values())
    assert kinds["decision"] >= 8
    assert kinds["invoice"] >= 2
    assert kinds["lease"] >= 2
    assert kinds["insurance claim"] >= 1
    assert kinds["employment contract"] >= 1
    assert kinds["discharge letter"] >= 1
    assert kinds["cv"] >= 1
    assert kinds["job advertisement"] >= 1
    assert kinds["rental contract"] >= 1
    assert kinds["bank statement"] >= 1
    assert {"fr", "de"} <= {document.meta["language"] for document in DOCUMENTS.values()}


def test_the_schema_asks_for_every_type_and_says_what_the_rows_say():
    alone = {"others": ()}
    fields = {n: f.model_copy(update=alone) for n, f in load_schema(str(SCHEMA)).fields.items()}
    assert fields.keys() == {extraction.entity_type for extraction in EXTRACTIONS}
    said = {e.entity_type: e.field for e in EXTRACTIONS if e.field}
    assert said == {name: field for name, field in fields.items() if field.description}


def test_each_kind_that_brings_its_own_schema_has_a_wrong_extraction_that_stands_in_the_text():
    own = [e for e in EXTRACTIONS if e.field and not e.label]
    assert len({DOCUMENTS[e.doc_id].meta["kind"] for e in own}) >= 6
    assert all(aligned(e).found for e in own)


def test_what_conflicts_is_given_twice_for_a_field_with_room_for_one():
    given = Counter((e.doc_id, e.entity_type) for e in by_kind("conflicting"))
    assert given
    assert set(given.values()) == {2}
    assert all(e.field and e.field.single for e in by_kind("conflicting"))


def test_decisions_have_the_promised_lengths_and_one_needs_chunking():
    lengths = sorted(
        len(document.text) for document in DOCUMENTS.values() if document.meta["kind"] == "decision"
    )
    assert lengths[0] >= 2_500
    assert lengths[-2] <= 12_000
    assert lengths[-1] >= 40_000


@pytest.mark.parametrize(
    "noise",
    ["XXXX", "\u00ad", "\u00a0", "\u2019", "\r\n", "\f", "re port", "2O2O"],
    ids=lambda noise: noise.encode("unicode_escape").decode(),
)
def test_texts_carry_the_noise_of_real_documents(noise: str):
    assert any(noise in document.text for document in DOCUMENTS.values())


def test_about_three_of_four_extractions_are_right():
    share = sum(extraction.label for extraction in EXTRACTIONS) / len(EXTRACTIONS)
    assert 0.7 <= share <= 0.8


def test_labels_follow_from_kinds_and_every_kind_occurs():
    assert {e.kind for e in EXTRACTIONS if e.label == 1} == SUPPORTED_KINDS
    assert {e.kind for e in EXTRACTIONS if e.label == 0} == UNSUPPORTED_KINDS
    assert all(extraction.why for extraction in EXTRACTIONS)


@pytest.mark.parametrize("extraction", by_kind("fabricated_context"), ids=lambda e: e.id)
def test_a_fabricated_context_is_not_found(extraction: LabelledExtraction):
    assert not aligned(extraction).found


def test_every_other_context_is_found_in_its_document():
    genuine = by_kind(*(SUPPORTED_KINDS | UNSUPPORTED_KINDS) - {"fabricated_context"})
    assert [e.id for e in genuine if not aligned(e).found] == []


def test_natural_contexts_are_found_letter_by_letter():
    assert [e.id for e in by_kind("natural") if aligned(e).score < 1] == []


def test_mistranscribed_contexts_are_not_in_the_text_as_quoted():
    verbatim = [e.id for e in by_kind("hard_positive") if e.context in DOCUMENTS[e.doc_id].text]
    assert verbatim == ["clr-2019-190422#7"]  # its value is a translation, not its context


def test_sentence_labels_cover_every_response_in_order():
    labels = response_labels()
    for response in responses():
        own = [label for label in labels if label.id == response.id]
        assert [label.ordinal for label in own] == list(range(len(own)))
        assert " ".join(label.sentence for label in own) == response.response


def test_every_response_has_a_supported_and_an_unsupported_sentence():
    for response in responses():
        assert {label.label for label in response_labels() if label.id == response.id} == {0, 1}


def test_labelled_sentences_are_the_claims_that_the_pipeline_judges():
    labelled = {(label.id, label.ordinal): label.sentence for label in response_labels()}
    claims = [claim for r in responses() for claim in split_claims(r, r.ref())]
    assert {(claim.response_id, claim.ordinal): claim.text for claim in claims} == labelled
