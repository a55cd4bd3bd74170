"""The decision rule: the only place where evidence becomes a verdict."""

from collections.abc import Mapping, Sequence
from typing import Final, Self

from pydantic import Field

from .alignment import MAX_ELIDED, AlignedExtraction, Alignment, Scatter
from .base import Contract, Probability, is_empty, is_none
from .document import DocumentRef
from .evidence import Evidence
from .extraction import Extraction, Usage
from .finding import Finding, FindingCode
from .hypothesis import render_value
from .ids import canonical_json, stable_id
from .memory import MemoryTrail
from .realignment import asked_digest
from .reason import Reason
from .verdict import Conflict, Decision, ScorerTrail, Verdict


class Assessment(Contract):
    """What a scorer says of one pair: a score with its threshold, or why it is missing.

    ``score`` is p(passage entails h(y)) in [0, 1]. Exactly one of ``score`` and ``failure`` is
    set, so that a failed measurement cannot look like one.
    """

    scorer: str
    revision: str
    score: Probability | None = None
    threshold: Probability | None = None
    failure: Reason | None = None
    failure_detail: str | None = None
    findings: tuple[Finding, ...] = ()
    trail: tuple[ScorerTrail, ...] = ()
    evidence: Evidence | None = Field(default=None, exclude_if=is_none)
    memory: MemoryTrail | None = Field(default=None, exclude_if=is_none)
    strict: bool = Field(default=False, exclude_if=is_empty)
    """Whether a doubt stops what would be accepted; see `doubted`."""

    def model_post_init(self, _context: object) -> None:
        if (self.score is None) == (self.failure is None):
            raise ValueError("an assessment has either a score or a failure")

    @classmethod
    def scored(
        cls,
        by: tuple[str, str],
        score: float,
        threshold: float,
        usage: Usage | None = None,
        findings: tuple[Finding, ...] = (),
    ) -> Self:
        """The assessment of one scorer alone; ``by`` is its name and revision."""
        scorer, revision = by
        own = {"scorer": scorer, "revision": revision, "score": score, "threshold": threshold}
        trail = ScorerTrail.model_validate(own | {"usage": usage})
        return cls.model_validate(own | {"findings": findings, "trail": (trail,)})

    @classmethod
    def failed(
        cls, by: tuple[str, str], reason: Reason, detail: str, usage: Usage | None = None
    ) -> Self:
        """The same where the scorer could not judge the pair, and why."""
        scorer, revision = by
        trail = ScorerTrail(
            scorer=scorer,
            revision=revision,
            score=None,
            threshold=None,
            failure=detail,
            usage=usage,
        )
        return cls(
            scorer=scorer,
            revision=revision,
            failure=reason,
            failure_detail=detail,
            trail=(trail,),
        )

    @property
    def passes(self) -> bool:
        """Whether it reaches its threshold; what was not measured does not."""
        return (
            self.score is not None and self.threshold is not None and self.score >= self.threshold
        )

    @property
    def doubted(self) -> bool:
        """Whether anything speaks against an assessment that passes: a score nearer to the
        threshold than to 1, a finding, a word of a claim that nothing supports, or a decision of
        a person against a value like this one."""
        score, threshold = self.score or 0.0, self.threshold or 0.0
        return (
            score - threshold < 1 - score
            or any(finding.code not in _NO_DOUBT for finding in self.findings)
            or bool(self.evidence and self.evidence.unsupported)
            or bool(self.memory and any(not case.supported for case in self.memory.cases))
        )


_STRICT: Final = "-strict1"
"""The version of `Assessment.doubted`: at the end of the revision of a strict scorer."""
_NO_DOUBT: Final = frozenset({"says_this", "reviewed_alike"})
"""What a second judge says for the value; and what people decided, of which only decisions against
it are a doubt."""


def in_mode(revision: str, *, strict: bool) -> str:
    """The revision of the same scorer in strict mode or out of it. Verdicts name it as it judged,
    releases out of strict mode: that is a setting of who judges, and may change."""
    return revision.removesuffix(_STRICT) + _STRICT * strict


def judge(
    aligned: AlignedExtraction,
    assessment: Assessment,
    rivals: Sequence[tuple[AlignedExtraction, Assessment]] = (),
) -> Verdict:
    """The verdict on an aligned extraction, given what the scorer said of it.

    ``rivals`` are the `AlignedExtraction.contenders` with another value, with what the scorer
    said of them. Where one of them would be accepted as well, neither is: the document gives two
    values for a field that has room for one, and which of them is wrong is for a person. A rival
    is heard though it is doubtful: strict mode accepts nothing that is stopped without it.
    """
    decision, reasons, findings = _alone(aligned, assessment)
    conflicts: tuple[Conflict, ...] = ()
    if decision == "accepted":
        decision, reasons, findings, conflicts = _among(rivals)
    if decision == "accepted" and assessment.strict and assessment.doubted:
        decision, reasons = "quarantined", ("doubtful",)
    made = _verdict(
        aligned.extraction,
        decision,
        reasons,
        document=aligned.document,
        alignment=aligned.alignment,
        assessment=assessment,
        findings=findings,
        conflicts=conflicts,
        memory=assessment.memory or _of_rivals([said for _, said in rivals]),
    )
    if made.decision == "accepted" and _has_lapsed(made):
        stopped = {"decision": "quarantined", "reasons": ("review_lapsed",)}
        return made.model_copy(update=stopped)
    return made


def _has_lapsed(verdict: Verdict) -> bool:
    """Whether a person decided on the value in an earlier version of the document and was asked
    something else there: the decision does not hold here, and a scorer's word does not replace
    it."""
    former = verdict.former
    decided = former is not None and former.decision is not None and former.decision.decision
    return bool(decided) and asked_digest(verdict) != former.asked  # type: ignore[union-attr]


def _of_rivals(assessments: Sequence[Assessment]) -> MemoryTrail | None:
    """The snapshot by which rivals were judged, which then had part in this verdict too."""
    trail = next((said.memory for said in assessments if said.memory), None)
    return trail and MemoryTrail(snapshot=trail.snapshot, shift=0.0)


_Judged = tuple[Decision, tuple[Reason, ...], tuple[Finding, ...]]


def _alone(aligned: AlignedExtraction, assessment: Assessment) -> _Judged:
    reasons: list[Reason] = []
    scatter = aligned.alignment.scatter
    findings = (Finding(code=scatter, detail=_SCATTERED[scatter]),) if scatter else ()
    if not aligned.alignment.found:
        reasons.append("not_found")
    if aligned.alignment.low_evidence or scatter:
        reasons.append("low_evidence")
    if assessment.failure is not None:
        return "undetermined", (*reasons, assessment.failure), findings
    if assessment.score is None or assessment.threshold is None:
        return "undetermined", (*reasons, "no_threshold"), findings
    contradicted = any(finding.contradicts for finding in assessment.findings)
    if assessment.score < assessment.threshold or contradicted:
        reasons.append("unsupported")
    return ("quarantined" if reasons else "accepted"), tuple(reasons), findings


def _among(
    rivals: Sequence[tuple[AlignedExtraction, Assessment]],
) -> tuple[Decision, tuple[Reason, ...], tuple[Finding, ...], tuple[Conflict, ...]]:
    """What the rivals make of an extraction that would be accepted."""
    judged = [(rival.extraction, *_alone(rival, said)[:2]) for rival, said in rivals]
    accepted = [rival for rival, decision, _ in judged if decision == "accepted"]
    if accepted:
        findings = tuple([_finding("conflicts_with", rival) for rival in accepted])
        conflicts = [Conflict(extraction_id=rival.id, value=rival.value) for rival in accepted]
        return "quarantined", ("conflicting",), findings, tuple(conflicts)
    # Fail closed: a rival that could not be judged may be the right one.
    unknown = [(rival, why) for rival, decision, why in judged if decision == "undetermined"]
    if unknown:
        findings = tuple([_finding("rival_not_judged", rival) for rival, _ in unknown])
        return "undetermined", unknown[0][1][-1:], findings, ()
    return "accepted", (), (), ()


def _finding(code: FindingCode, rival: Extraction) -> Finding:
    return Finding(code=code, detail=f"{rival.id}: {render_value(rival.value)}"[:500])


_SCATTERED: Final[Mapping[Scatter, str]] = {
    "parts_out_of_order": "the parts of the quote are in another order in the document",
    "parts_far_apart": f"more than {MAX_ELIDED} characters are between the parts of the quote",
}


def reject(
    extraction: Extraction, reason: Reason, document: DocumentRef | None, alignment: Alignment
) -> Verdict:
    """Quarantine an extraction whose alignment alone shows that it is unsafe."""
    return _verdict(extraction, "quarantined", (reason,), document=document, alignment=alignment)


def undetermined(
    extraction: Extraction, reason: Reason, document: DocumentRef | None, detail: str = ""
) -> Verdict:
    """The verdict on an extraction that could not be judged."""
    findings = (Finding(code=reason, detail=detail[:500]),) if detail else ()
    return _verdict(extraction, "undetermined", (reason,), document=document, findings=findings)


def verdict_id(
    extraction: Extraction,
    document: DocumentRef | None,
    revision: str,
    alignment: Alignment | None = None,
    memory: MemoryTrail | None = None,
) -> str:
    """Same document, extraction, scorer revision, memory, aligner and tau, same id (promise P3).

    What the schema says of the field, and what else the document gave for it, are part of the
    question, so they are part of the id.
    """
    digest = document.digest if document else ""
    parts = [extraction.id, digest, revision]
    if extraction.field:
        parts.append(extraction.field.identity)
    if extraction.former:
        parts.append(f"former {extraction.former.verdict_id}")
    for rival in extraction.rivals:
        parts += ("rival", rival.id, canonical_json(rival.value), rival.context)
    if alignment and alignment.aligner:
        parts += (f"aligner {alignment.aligner}", f"tau {alignment.threshold!r}")
    if memory:
        parts.append(f"memory {memory.snapshot}")
    return stable_id("verdict", *parts)


def _verdict(
    extraction: Extraction,
    decision: Decision,
    reasons: tuple[Reason, ...],
    *,
    document: DocumentRef | None,
    alignment: Alignment | None = None,
    assessment: Assessment | None = None,
    findings: tuple[Finding, ...] = (),
    conflicts: tuple[Conflict, ...] = (),
    memory: MemoryTrail | None = None,
) -> Verdict:
    revision = assessment.revision if assessment else None
    return Verdict(
        id=verdict_id(extraction, document, revision or "unscored", alignment, memory),
        doc_id=extraction.doc_id,
        extraction_id=extraction.id,
        entity_type=extraction.entity_type,
        value=extraction.value,
        context=extraction.context,
        hypothesis=extraction.hypothesis,
        decision=decision,
        reasons=reasons,
        findings=findings + (assessment.findings if assessment else ()),
        alignment=alignment,
        score=assessment.score if assessment else None,
        threshold=assessment.threshold if assessment else None,
        scorer=assessment.scorer if assessment else None,
        scorer_revision=revision,
        scorers=assessment.trail if assessment else (),
        document=document,
        extractor=extraction.extractor,
        field=extraction.field,
        conflicts=conflicts,
        attempt=extraction.attempt,
        former=extraction.former,
        evidence=_evidence(alignment, assessment, supports=decision == "accepted"),
        memory=memory,
    )


def _evidence(
    alignment: Alignment | None, assessment: Assessment | None, *, supports: bool
) -> Evidence | None:
    """What the scorer saw, and the passages that were retrieved for it; None where neither."""
    seen = (assessment.evidence if assessment else None) or Evidence()
    consulted = alignment.consulted if alignment else ()
    passages = seen.passages or tuple(
        [passage.model_copy(update={"supports": supports}) for passage in consulted]
    )
    return seen.model_copy(update={"passages": passages}) if seen or passages else None
