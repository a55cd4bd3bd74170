"""From reviews to training data: labels, and what the reviewers disagree on."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Literal

from pydantic import JsonValue

from safepassage.schemas import (
    Document,
    DocumentRef,
    Draw,
    LabelledExtraction,
    Review,
    Verdict,
    extraction_id,
)
from safepassage.schemas.base import Json
from safepassage.schemas.error_type import OF_REASONS, ErrorType
from safepassage.schemas.hypothesis import CLAIM_TYPE
from safepassage.schemas.review import DecisionReason
from safepassage.schemas.reviews_that_count import case_id, judged_by, moment, standing
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.cases import labelled_pair
from safepassage.scoring_worker.evaluation.kappa import Ratings
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.rows import row_of_pair
from safepassage.scoring_worker.evaluation.splits import held_out

from ..kafka.reading import read_topics
from ..kafka.records import ErasedRecord, UnreadableRecord, decode
from ..settings import Settings
from ..topics import REVIEWS

Kind = Literal["review", "spot_check", "asked", "correction"]
"""A review of what was stopped, of an accepted value that was drawn, of one that somebody chose; or
what a reviewer put in the place of a value."""


@dataclass(frozen=True, slots=True)
class ReviewedCase:
    """A case somebody judged: the decision in force, and each person's own (`Review.person`)."""

    standing: Review
    opinions: Mapping[str, Review]

    @property
    def verdict(self) -> Verdict:
        """What the standing decision was made on."""
        return self.standing.verdict

    @property
    def ratings(self) -> dict[str, int]:
        """What each reviewer said of the value as extracted: 1 supported, 0 not."""
        return {name: int(r.decision == "supports") for name, r in self.opinions.items()}

    @property
    def disputed(self) -> bool:
        return len(set(self.ratings.values())) > 1


@dataclass(frozen=True, slots=True)
class Label:
    """One labelled value."""

    verdict: Verdict
    value: Json
    label: Literal[0, 1]
    kind: Kind
    why: str
    draw: Draw | None = None
    reason: DecisionReason | None = None

    @property
    def error_type(self) -> ErrorType | None:
        """What the reviewer's reason makes of a claim that was refused."""
        refused = self.verdict.entity_type == CLAIM_TYPE and self.label == 0 and self.reason
        return OF_REASONS.get(self.reason or "") if refused else None

    @property
    def asked(self) -> Pair | None:
        """What a scorer is asked; None where the quote was not found."""
        alignment = self.verdict.alignment
        found = alignment is not None and alignment.found
        return Pair.judged(self.verdict, self.value) if found else None

    @property
    def pair(self) -> LabelledPair | None:
        """The label as training takes it; None where the quote was not found."""
        asked, verdict = self.asked, self.verdict
        if asked is None:
            return None
        return labelled_pair(
            asked, bool(self.label), kind=self.kind, group=verdict.doc_id, draw=self.draw
        )

    def extraction(self, doc_id: str) -> LabelledExtraction:
        """The label as a row of a labelled extraction file whose document is ``doc_id``."""
        verdict = self.verdict
        identity = verdict.extraction_id
        if self.kind == "correction" and verdict.document:
            identity = extraction_id(
                verdict.document, verdict.entity_type, self.value, verdict.context
            )
        return LabelledExtraction(
            id=identity,
            doc_id=doc_id,
            entity_type=verdict.entity_type,
            value=self.value,
            context=verdict.context,
            label=self.label,
            kind=self.kind,
            why=self.why,
            field=verdict.field,
            extractor=verdict.extractor,
            attempt=verdict.attempt,
            retrieved=self._retrieved(),
            draw=self.draw.model_dump(mode="json") if self.draw else None,
            reason=self.reason,
            error_type=self.error_type,
        )

    def _retrieved(self) -> dict[str, JsonValue] | None:
        """The alignment of a claim: a quote can be aligned again, a claim's passage cannot."""
        alignment = self.verdict.alignment
        if alignment is None or alignment.route != "retrieved":
            return None
        # The absent words are places in the old value.
        unknown = {"absent"} if self.kind == "correction" else None
        return alignment.model_dump(mode="json", exclude=unknown)


async def read_reviews(settings: Settings) -> tuple[list[Review], int]:
    """Every review on the topic, each once, and how many records were no reviews."""
    reviews: dict[str, Review] = {}
    unreadable = 0
    async for review in stream_reviews(settings):
        if review is None:
            unreadable += 1
        else:
            reviews[review.id] = review
    return list(reviews.values()), unreadable


async def stream_reviews(settings: Settings) -> AsyncIterator[Review | None]:
    """Every review on the topic, as often as it came; None for any other record."""
    async for record in read_topics(settings, [REVIEWS]):
        try:
            yield decode(record, Review).event
        except ErasedRecord:
            continue
        except UnreadableRecord:
            yield None


def reviewed_cases(reviews: Iterable[Review], since: datetime | None = None) -> list[ReviewedCase]:
    """The judged cases whose standing decision was made at ``since`` or later, oldest first."""
    by_case: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        by_case[case_id(review.verdict)].append(review)
    cases = []
    for of_case in by_case.values():
        stands = standing(of_case)
        if stands and (since is None or moment(stands.decided_at) >= moment(since)):
            cases.append(ReviewedCase(stands, judged_by(of_case)))
    return sorted(cases, key=lambda case: (moment(case.standing.decided_at), case.standing.id))


def labels(case: ReviewedCase) -> Iterator[Label]:
    """The label of a case; of a correction two: the old value 0, the corrected one 1."""
    review, verdict = case.standing, case.verdict
    chosen: Kind = "asked" if verdict.decision == "accepted" else "review"
    kind: Kind = "spot_check" if review.sampled else chosen
    agreeing = sum(rating == case.ratings[review.person] for rating in case.ratings.values())
    why = f"{review.decision} by {review.reviewer}; {agreeing} of {len(case.ratings)} agree"
    if review.comment:
        why = f"{why}: {review.comment}"
    supported = review.decision == "supports"
    reason = review.reason
    yield Label(verdict, verdict.value, 1 if supported else 0, kind, why, review.draw, reason)
    if review.decision == "corrected":
        yield Label(verdict, review.value, 1, "correction", why)


def ratings(cases: Iterable[ReviewedCase]) -> Ratings:
    """What `evaluation.kappa` measures: the cases that several reviewers judged."""
    return [case.ratings for case in cases if len(case.ratings) > 1]


def document_names(found: Iterable[Label]) -> dict[DocumentRef, str]:
    """A name for the text of each label: the document's id, and for a second text under the same
    id one with the digest behind it, so that a file of documents stays unambiguous."""
    names: dict[DocumentRef, str] = {}
    digests: dict[str, str] = {}
    for label in found:
        if (ref := label.verdict.document) and ref not in names:
            first = digests.setdefault(ref.id, ref.digest)
            names[ref] = ref.id if first == ref.digest else f"{ref.id}@{ref.digest[:12]}"
    return names


def write_rows(path: Path, rows: Iterable[bytes]) -> int:
    """Write JSON lines, compressed if ``path`` ends in .gz; returns how many."""
    written = 0
    with opened_rows(path) as stream:
        for row in rows:
            stream.write(row + b"\n")
            written += 1
    return written


def extraction_rows(found: Sequence[Label], names: Mapping[DocumentRef, str]) -> Iterator[bytes]:
    for label in found:
        ref = label.verdict.document
        doc_id = names[ref] if ref else label.verdict.doc_id
        yield label.extraction(doc_id).model_dump_json(exclude_none=True).encode()


def pair_rows(found: Iterable[Label]) -> Iterator[bytes]:
    """Pairs of passage and hypothesis; a quote that was not found has no passage and no pair."""
    for label in found:
        if pair := label.asked:
            row = row_of_pair(pair) | {
                "label": label.label,
                "doc_id": label.verdict.doc_id,
                "kind": label.kind,
            }
            if label.draw:
                row["draw"] = label.draw.model_dump(mode="json")
            yield json.dumps(row, ensure_ascii=False).encode()


def document_row(name: str, text: str) -> bytes:
    return Document(id=name, text=text).model_dump_json(exclude_none=True).encode()


def opened_rows(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return gzip.GzipFile(path, "wb", mtime=0)  # type: ignore[return-value]
    return path.open("wb")


_SALT = "learning"
"""A document that judges once judges always: no candidate has ever learnt from it."""
SIDES = {False: "learn from", True: "judge by"}
CLASSES = {True: "supported", False: "unsupported"}


def judges(document: str, share: float) -> bool:
    """Whether a document is of the ``share`` that judges candidates and teaches them nothing."""
    return held_out(document, share, _SALT)


def wanted(decided: Iterable[tuple[str, bool]], share: float, each: int) -> list[str]:
    """What is missing to ``each`` labels of both classes, to learn from and to judge by, in words.

    ``decided`` are documents, and whether the value is supported.
    """
    counts = Counter((judges(document, share), supported) for document, supported in decided)
    return [
        f"{each - counts[side, label]} {named} to {purpose}"
        for side, purpose in SIDES.items()
        for label, named in CLASSES.items()
        if counts[side, label] < each
    ]
