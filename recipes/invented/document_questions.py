"""Questions to annotated documents, and the ones that generators make of questions."""

from collections.abc import Sequence

from research.known_documents import KnownDocument
from safepassage.scoring_worker.training.reading.questions import Place, ReadingQuestion

from .claims import altered_sentences, value_claims
from .generators import SlotPool, generated

GENERATED = {"rewritten": 0.12, "sentence": 0.14, "conditional": 0.1, "form": 0.14}
"""New questions of each generator per question of a slots file."""

VALUE_CLAIMS, ALTERED = 0.12, 0.1
_AROUND = 120


def with_generated(own: Sequence[ReadingQuestion], seed: int) -> list[ReadingQuestion]:
    """``own`` with what the generators make of them, and claims of their values."""
    pool = SlotPool.of(own)
    return [
        *own,
        *generated(own, GENERATED, seed),
        *value_claims(own, pool, VALUE_CLAIMS, seed),
        *altered_sentences(own, pool, ALTERED, seed),
    ]


def document_questions(document: KnownDocument, source: str) -> list[ReadingQuestion]:
    """One question per field of ``document``: its type, asked of what is around it.

    Fields of other types in that passage are wrong answers; the same words are not.
    """
    made = []
    for known in document.fields:
        if not known.entity_types:
            continue
        start = max(0, known.context_start - _AROUND, known.start - 2 * _AROUND)
        end = min(len(document.text), known.context_end + _AROUND, known.end + 2 * _AROUND)
        inside = [f for f in document.fields if start <= f.start and f.end <= end]
        right, wrong = [], []
        for other in inside:
            place: Place = (other.start - start, other.end - start)
            same = set(other.entity_types) & set(known.entity_types)
            said = document.text[other.start : other.end] == document.text[known.start : known.end]
            if same or said:
                right.append(place)
            elif other.entity_types:
                wrong.append(place)
        made.append(
            ReadingQuestion(
                passage=document.text[start:end],
                asked=known.entity_types,
                answers=tuple(dict.fromkeys(right)),
                wrong=tuple(dict.fromkeys(wrong)),
                source=source,
                group=document.id,
            )
        )
    return made
