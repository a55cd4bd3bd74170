"""Promotion, evaluation, training and replay ask a scorer what the score role asked it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from safepassage.agents.claims import ground_claims, split_claims
from safepassage.pipeline import align_with, ground, new_aligner
from safepassage.schemas import (
    AlignedExtraction,
    Document,
    Extraction,
    Response,
    Review,
    SchemaField,
    Verdict,
)
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.datasets import read_dataset
from safepassage.scoring_worker.evaluation.sources import Sources
from safepassage.streams.labels.from_reviews import (
    Label,
    document_row,
    extraction_rows,
    labels,
    pair_rows,
    reviewed_cases,
    write_rows,
)
from safepassage.streams.offline.training_labels import read_labels
from safepassage.streams.release.promotion import labelled_gold, reviewed_gold
from safepassage.streams.replay.engine import ReplayRequest, run_replay
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALIGNMENTS, REVIEWS
from safepassage.streams.topology import score_role
from safepassage.streams.wiring import assess_off_the_loop
from tests.streams.judged import FakeScorer, publish, received

LEASE = (
    "Mietvertrag vom 3.4.2021\n\n"
    "Kündigung\n\n"
    "Der Mieter kann den Vertrag nicht vor dem 17.6.2022 ohne Angabe von Gründen und nur "
    "schriftlich kündigen, es sei denn, die Parteien vereinbaren etwas anderes.\n\n"
    "Die Wohnung liegt im zweiten Stock des Hauses und wird mit allen Schlüsseln übergeben. Der "
    "Vermieter liest die Zähler am Tag der Übergabe ab und schreibt die Stände auf.\n"
)
QUOTE = "vor dem 17.6.2022 … schriftlich kündigen"
SINGLE = SchemaField(name="earliest", description="Tag der frühesten Kündigung", single=True)
ANSWER = Response(
    id="answer",
    context=["The tenant is Ann Lee.\nRent\nThe rent is 850 EUR.", "Pets need our consent."],
    response="The rent is 850 EUR and includes heating.",
)


class Recorder(FakeScorer):
    """Keeps every pair that it is asked."""

    def assess(self, pairs: Sequence[Pair]) -> list:
        self.asked = [*getattr(self, "asked", []), *pairs]
        return super().assess(pairs)


def of_the_lease(settings: Settings) -> AlignedExtraction:
    document = Document(id="lease", text=LEASE)
    extraction = Extraction(
        id="e",
        doc_id="lease",
        entity_type="Notice Date",
        value="17.6.2022",
        context=QUOTE,
        document=document.ref(),
        field=SINGLE,
    )
    aligner = new_aligner(settings)
    (found,) = align_with(aligner, document, [extraction])
    aligner.close()
    assert isinstance(found, AlignedExtraction)
    return found


def of_the_answer(_settings: Settings) -> AlignedExtraction:
    (found,) = ground_claims(split_claims(ANSWER, ANSWER.ref()), ANSWER.text)
    assert isinstance(found, AlignedExtraction)
    return found


Judged = tuple[AlignedExtraction, Pair, Verdict]


@pytest.fixture(params=["quote", "claim"])
async def judged(request: pytest.FixtureRequest, kafka: Settings) -> Judged:
    """An aligned event, what the score role asked of it, and the verdict."""
    event = (of_the_lease if request.param == "quote" else of_the_answer)(kafka)
    scorer = Recorder()
    role = score_role(assess_off_the_loop(scorer), batch=1)
    ((outgoing,),) = await role.step([received(event, 0)])
    (asked,) = scorer.asked
    return event, asked, outgoing.event


@pytest.fixture
def sources(kafka: Settings) -> Iterator[Sources]:
    """What `evaluate` and `train` read with."""
    aligner = new_aligner(kafka)
    texts = {"lease": LEASE, "answer": ANSWER.text}
    documents = {name: Document(id=name, text=text) for name, text in texts.items()}
    yield Sources(documents, partial(align_with, aligner), ground)
    aligner.close()


def review(verdict: Verdict, decision: str = "supports", value: object = None) -> Review:
    return Review.model_validate(
        {
            "id": "r",
            "verdict": verdict,
            "decision": decision,
            "value": value,
            "reviewer": "Ada",
            "decided_at": datetime(2026, 1, 1, tzinfo=UTC),
        }
    )


def exported(
    found: Sequence[Label], folder: Path, form: Literal["pairs", "extractions"]
) -> tuple[Path, list[Path]]:
    """The files that `labels export` writes."""
    path, documents = folder / "labels.jsonl", folder / "documents.jsonl"
    names = {label.verdict.document: label.verdict.doc_id for label in found}
    rows = pair_rows(found) if form == "pairs" else extraction_rows(found, names)
    assert write_rows(path, rows) == len(found)
    write_rows(documents, [document_row("lease", LEASE), document_row("answer", ANSWER.text)])
    return path, [documents]


async def test_the_questions_of_these_tests_hold_all_that_a_question_may(kafka: Settings) -> None:
    quote, claim = Pair.of(of_the_lease(kafka)), Pair.of(of_the_answer(kafka))
    known = {f.name for f in fields(Pair) if getattr(quote, f.name) not in ("", (), None)}
    assert known == {f.name for f in fields(Pair)} - {"absent", "column_head", "row_head"}
    assert (quote.language, quote.day_first) == ("de", True)
    assert claim.absent


async def test_promotion_asks_of_reviews_what_the_stream_asked(
    kafka: Settings, judged: Judged
) -> None:
    _, asked, verdict = judged
    await publish(kafka, REVIEWS, [review(verdict)])
    (case,) = await reviewed_gold(kafka)
    assert case.parts == (asked,)


@pytest.mark.parametrize("form", ["pairs", "extractions"])
def test_exported_labels_ask_what_the_stream_asked(
    kafka: Settings,
    judged: Judged,
    sources: Sources,
    tmp_path: Path,
    form: Literal["pairs", "extractions"],
) -> None:
    """Read by `evaluate`, `train` and `promote`."""
    _, asked, verdict = judged
    (case,) = reviewed_cases([review(verdict)])
    path, documents = exported(list(labels(case)), tmp_path, form)
    doors: dict[str, Callable[[], Sequence[Pair]]] = {
        "evaluate": lambda: read_dataset(path, sources).pairs,
        "train": lambda: [label.pair for label in read_labels(path, sources)[0]],
        "promote": lambda: [p for c in labelled_gold([path], documents, kafka) for p in c.pairs],
    }
    assert {door: list(read()) for door, read in doors.items()} == {door: [asked] for door in doors}


async def test_replay_asks_what_the_stream_asked(kafka: Settings, judged: Judged) -> None:
    event, asked, _ = judged

    class NoRest:
        async def rest(self, records: int, seconds: float) -> None:
            """Nothing."""

    await publish(kafka, ALIGNMENTS, [event])
    scorer = Recorder()
    await run_replay(ReplayRequest("same-question"), scorer, kafka, NoRest())
    assert scorer.asked == [asked]


def test_a_corrected_claim_does_not_keep_the_places_of_the_old_words(
    judged: Judged, sources: Sources, tmp_path: Path
) -> None:
    """They would name other words of the new value."""
    _, asked, verdict = judged
    (case,) = reviewed_cases([review(verdict, "corrected", "900 EUR")])
    path, _ = exported(list(labels(case)), tmp_path, "extractions")
    old, new = read_dataset(path, sources).pairs
    assert (old, new.value, new.absent) == (asked, "900 EUR", None)


def test_a_claim_whose_passage_is_not_in_the_document_is_not_asked(
    kafka: Settings, tmp_path: Path
) -> None:
    """The row says what the document does not."""
    event = of_the_answer(kafka)
    verdict = Verdict.model_validate(
        {
            "id": "v",
            "doc_id": "answer",
            "extraction_id": "e",
            "entity_type": "Claim",
            "value": event.extraction.value,
            "context": "",
            "hypothesis": "",
            "decision": "quarantined",
            "reasons": ("unsupported",),
            "alignment": event.alignment,
            "score": 0.1,
            "threshold": 0.5,
            "scorer": "fake",
            "scorer_revision": "1",
            "document": event.document,
        }
    )
    (case,) = reviewed_cases([review(verdict)])
    path, documents = exported(list(labels(case)), tmp_path, "extractions")
    write_rows(documents[0], [document_row("answer", "Another text. " * 20)])
    (found,) = labelled_gold([path], documents, kafka)
    assert [part.reason for part in found.parts if not isinstance(part, Pair)] == [
        "document_mismatch"
    ]
