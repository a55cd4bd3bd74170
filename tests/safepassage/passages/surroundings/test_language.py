"""The language of a document reaches the scorer, and is asked once a document."""

from __future__ import annotations

from safepassage.agents.aligner import Aligner
from safepassage.schemas import AlignedExtraction, Document, Extraction
from safepassage.scoring_worker.scorer import Pair

TEXT = "Der Vertrag wurde am 4. Mai geschlossen. Er endet am 5. Juni."


async def test_the_document_s_language_stands_in_the_event_and_is_asked_once() -> None:
    asked: list[str] = []

    def language_of(text: str) -> str | None:
        asked.append(text)
        return "de"

    aligner = Aligner(language_of=language_of)
    document = Document(id="d", text=TEXT)
    contexts = ("am 4. Mai geschlossen", "Er endet am 5. Juni")
    extractions = [
        Extraction(id=str(number), doc_id="d", entity_type="Date", value="x", context=context)
        for number, context in enumerate(contexts)
    ]
    found = await aligner.align(TEXT, document.ref(), extractions)
    aligner.close()
    assert asked == [TEXT]
    for one in found:
        assert isinstance(one, AlignedExtraction)
        assert one.alignment.language == "de"
        assert Pair.of(one).language == "de"
        assert AlignedExtraction.model_validate_json(one.model_dump_json()) == one


async def test_nobody_who_knows_is_no_language() -> None:
    aligner = Aligner()
    document = Document(id="d", text=TEXT)
    extraction = Extraction(id="e", doc_id="d", entity_type="Date", value="x", context=TEXT)
    [found] = await aligner.align(TEXT, document.ref(), [extraction])
    aligner.close()
    assert isinstance(found, AlignedExtraction)
    assert found.alignment.language is None
    assert '"language"' not in found.model_dump_json()
