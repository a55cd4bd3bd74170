"""From extractions and answers to verdicts, outside Kafka: the stream's own aligner, splitter of
answers, scorer and rule. `Verifier`, ``safepassage check`` and the evaluation all go through here.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from safepassage.agents.aligner import Aligner
from safepassage.agents.claims import ground_claims, split_claims, whole_claim
from safepassage.schemas import (
    AlignedExtraction,
    Assessment,
    Document,
    Extraction,
    Response,
    Verdict,
    undetermined,
)
from safepassage.schemas.rivals import with_rivals
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.text.language import language_of_document
from safepassage.scoring_worker.weighing.judged_batch import pairs_of, verdicts

from .settings import JudgingSettings

SCORE_BATCH = 512
"""Records scored in one call, as many as the worker takes."""

Results = list[AlignedExtraction | Verdict]
Assess = Callable[[Sequence[Pair]], Sequence[Assessment]]


def new_aligner(settings: JudgingSettings) -> Aligner:
    """The aligner with the configured threshold and limits."""
    return Aligner(
        language_of=lambda text: language_of_document(text)[0],
        threshold=settings.alignment_threshold,
        max_document_characters=settings.max_document_characters,
        max_context_characters=settings.max_context_characters,
    )


def align_with(aligner: Aligner, document: Document, extractions: Sequence[Extraction]) -> Results:
    """The pipeline's alignment of ``extractions``, for a caller without an event loop."""
    return aligner.submit(document.text, document.ref(), extractions).result()


def align_all(
    extractions: Sequence[Extraction], documents: Mapping[str, Document], aligner: Aligner
) -> Results:
    """One result for each extraction, in order; ``documents`` by their ids.

    Extractions of one document for a field that is declared single are rivals, as in the stream.
    """
    contested = with_rivals(extractions)
    by_document: dict[str, list[int]] = defaultdict(list)
    for position, extraction in enumerate(contested):
        by_document[extraction.doc_id].append(position)
    results: dict[int, AlignedExtraction | Verdict] = {}
    for doc_id, positions in by_document.items():
        chosen = [contested[position] for position in positions]
        aligned = _align(documents.get(doc_id), chosen, aligner)
        results.update(zip(positions, aligned, strict=True))
    return [results[position] for position in range(len(contested))]


def ground(response: Response, whole: bool = False) -> Results:
    """The passage of each sentence of an answer, or of the answer as one claim (``whole``)."""
    ref = response.ref()
    claims = whole_claim(response, ref) if whole else split_claims(response, ref)
    return ground_claims(claims, response.text)


def judge_in_batches(
    results: Sequence[AlignedExtraction | Verdict], assess: Assess
) -> Iterator[Verdict]:
    """Score in batches as long as the worker's; what was not aligned passes through."""
    for start in range(0, len(results), SCORE_BATCH):
        part = results[start : start + SCORE_BATCH]
        pairs = questions(part)
        yield from judge(part, assess(pairs) if pairs else ())


def questions(results: Sequence[AlignedExtraction | Verdict]) -> list[Pair]:
    """What the scorer has to be asked of ``results``."""
    return pairs_of([result for result in results if isinstance(result, AlignedExtraction)])


def judge(
    results: Sequence[AlignedExtraction | Verdict], assessments: Sequence[Assessment]
) -> list[Verdict]:
    """A verdict for each, in order; ``assessments`` answer the `questions` of the same."""
    aligned = [result for result in results if isinstance(result, AlignedExtraction)]
    judged = iter(verdicts(aligned, assessments))
    return [result if isinstance(result, Verdict) else next(judged) for result in results]


def _align(
    document: Document | None, extractions: Sequence[Extraction], aligner: Aligner
) -> Results:
    if document is None:
        detail = "no document of this id was given"
        return [undetermined(e, "document_missing", None, detail) for e in extractions]
    return align_with(aligner, document, extractions)
