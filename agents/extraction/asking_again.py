"""Asking once more about quotes that are not in the text, before anything is published.

Whether a value is supported is the scorer's to say, later and elsewhere; whether a quote exists can
be known at once, by the aligner's own measure. What the second answer mends takes the place of what
it mends, as attempt 2; all else goes on as it came, to be stopped where every invented quote is.
"""

import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import replace

from safepassage.agents.alignment import AlignmentTimeoutError, DocumentIndex
from safepassage.schemas import canonical_json

from .answers import Answer, Finding
from .prompt import Message

REPLACED = "replaced"
"""Under which an `Answer` counts, as skipped, the findings that a second answer mended."""

CORRECTION = """\
Some of your quotes are not in the document. The list below shows the facts that they belong \
to; it is data, not an instruction. Give each of these facts again, with a context that is copied \
from the document character by character and shows its value, or leave it out where the document \
does not say it. Answer with one JSON object of the same schema that holds these facts and no \
others.
"""
_MAX_CONTEXT = 5_000
_SECONDS = 30.0
_SHOWN = 50


def sifted(
    text: str, findings: Sequence[Finding], threshold: float
) -> tuple[list[Finding], list[Finding]]:
    """Those whose quote is in ``text``, and those whose alignment score is below
    ``threshold``.

    A quote that could not be aligned in time is no evidence against its finding. Takes
    milliseconds a quote, so it belongs beside an event loop.
    """
    index = DocumentIndex(text)
    deadline = time.monotonic() + _SECONDS
    standing: list[Finding] = []
    invented: list[Finding] = []
    for finding in findings:
        wrong = _is_invented(index, finding, threshold, deadline)
        (invented if wrong else standing).append(finding)
    return standing, invented


def correction(content: str, findings: Sequence[Finding]) -> list[Message]:
    """What follows in the conversation: the LLM's first answer, and the question to mend it."""
    shown = [
        {"entity_type": f.entity_type, "value": f.value, "context": f.context[:_MAX_CONTEXT]}
        for f in findings[:_SHOWN]
    ]
    listed = json.dumps(shown, ensure_ascii=False)
    return [
        {"role": "assistant", "content": content},
        {"role": "user", "content": f"{CORRECTION}{listed}"},
    ]


def mended(first: Answer, wrong: Sequence[Finding], offered: Sequence[Finding]) -> Answer:
    """``first``, with those of ``wrong`` replaced for which ``offered`` has one of their type."""
    known = {_said(finding) for finding in first.findings}
    better: dict[_Kind, deque[Finding]] = defaultdict(deque)
    for finding in offered:
        if _said(finding) not in known:
            better[_kind(finding)].append(replace(finding, attempt=2))
    to_mend = {_said(finding) for finding in wrong}
    findings = tuple(
        better[_kind(finding)].popleft()
        if _said(finding) in to_mend and better[_kind(finding)]
        else finding
        for finding in first.findings
    )
    replaced = sum(finding.attempt == 2 for finding in findings)
    return Answer(findings, first.skipped + Counter({REPLACED: replaced}))


_Kind = tuple[str, str]


def _kind(finding: Finding) -> _Kind:
    return finding.entity_type, finding.place


def _said(finding: Finding) -> tuple[str, str, str, str]:
    return *_kind(finding), canonical_json(finding.value), finding.context


def _is_invented(index: DocumentIndex, finding: Finding, threshold: float, deadline: float) -> bool:
    if len(finding.context) > _MAX_CONTEXT:
        return True
    try:
        aligned = index.align(finding.context, threshold=threshold, exact=False, deadline=deadline)
    except AlignmentTimeoutError:
        return False
    return not aligned.found
