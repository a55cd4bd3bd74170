"""The page: a bar of filters, and for each document its text, its pages and its verdicts."""

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from safepassage.agents.nearest_passage import nearest_of
from safepassage.field_words import field_words
from safepassage.schemas import Decision, Document, Span, Verdict, render_value
from safepassage.schemas.wording import cut, reasons_in_words, where

from .marks import Mark, marks_of, segments
from .markup import Content, Markup, element, joined
from .pages import pages

MAX_VALUE = 400
MAX_QUOTE = 1_000

_NAMES: dict[Decision, str] = {
    "accepted": "accepted",
    "quarantined": "stopped",
    "undetermined": "not judged",
}
_SIGNS: dict[Decision, str] = {"accepted": "✓", "quarantined": "✕", "undetermined": "?"}
_WORST: tuple[Decision, ...] = ("quarantined", "undetermined", "accepted")


def report(
    documents: Iterable[Document], verdicts: Sequence[Verdict], title: str = "Evidence"
) -> str:
    """The HTML of ``verdicts``, each beside its document; what belongs to none of ``documents``
    comes last, without a text."""
    known = {document.id: document for document in documents}
    numbered: dict[str, list[tuple[int, Verdict]]] = {}
    for number, verdict in enumerate(verdicts):
        numbered.setdefault(verdict.doc_id, []).append((number, verdict))
    ordered = sorted(numbered, key=lambda doc_id: doc_id not in known)  # stable
    shown = [_document(doc_id, known.get(doc_id), numbered[doc_id]) for doc_id in ordered]
    counts = Counter(verdict.decision for verdict in verdicts)
    return Template(_asset("report.html")).substitute(
        {name: counts[name] for name in _NAMES},
        title=joined(title),
        documents=f"{len(numbered)} document{'s' * (len(numbered) != 1)}",
        main=joined(shown or element("p", "No verdict.", class_="nothing")),
        policy=_policy(),
        style=_asset("report.css"),
        script=_asset("report.js"),
    )


def framed(html: str) -> str:
    """``html`` in a frame of a notebook, where it runs its own script and reaches nothing else."""
    return element(
        "iframe",
        srcdoc=html,
        sandbox="allow-scripts",
        width="100%",
        height="720",
        frameborder="0",
        title="Evidence",
    )


def _document(
    doc_id: str, document: Document | None, numbered: Sequence[tuple[int, Verdict]]
) -> Markup:
    near = {} if document is None else nearest_of((v for _, v in numbered), document.text)
    named = {number: field_words(verdict) for number, verdict in numbered}
    cards = element(
        "ol",
        [_card(n, verdict, near.get(verdict.id, ""), named[n]) for n, verdict in numbered],
        class_="verdicts",
    )
    name = element("h2", element("bdi", doc_id))
    if document is None:
        told = element("p", "The document is not here.", class_="nothing")
        return element("section", [name, element("div", [told, cards], class_="sides")])
    marks = [mark for n, verdict in numbered for mark in marks_of(n, verdict, named[n])]
    kinds = {number: str(verdict.decision) for number, verdict in numbered}
    words = element("pre", _marked(document.text, marks, dict(numbered)), class_="text", dir="auto")
    drawn = list(pages(document, [mark for mark in marks if not mark.is_field], kinds))
    shown: Content = [words, element("div", drawn, class_="pages")] if drawn else [words]
    source = element("div", shown, class_="source")
    return element(
        "section",
        [name, element("div", [source, cards], class_="sides")],
        class_="document",
        data_pages="true" if drawn else None,
    )


def _marked(text: str, marks: Sequence[Mark], verdicts: dict[int, Verdict]) -> Iterator[Markup]:
    for segment in segments(text, marks):
        if not segment.numbers:
            yield joined(segment.text)
            continue
        decisions = {verdicts[number].decision for number in segment.numbers}
        worst = next(name for name in _WORST if name in decisions)
        kinds = [worst, *["value"] * segment.is_value, *["field"] * segment.is_field]
        numbers = " ".join(map(str, segment.numbers))
        yield element("mark", segment.text, class_=" ".join(kinds), data_v=numbers)


def _card(number: int, verdict: Verdict, near: str, named: Sequence[Span]) -> Markup:
    value = cut(render_value(verdict.value), MAX_VALUE)
    head = [
        element("span", _SIGNS[verdict.decision], class_="sign", aria_hidden="true"),
        element("bdi", where(verdict), class_="type"),
        element("span", _NAMES[verdict.decision], class_="decision"),
    ]
    parts: list[Markup] = [
        element("div", head, class_="head"),
        element("div", element("bdi", value), class_="of-value"),
    ]
    if verdict.score is not None:
        parts.append(_measure(verdict))
    if verdict.decision != "accepted":
        reasons = [element("li", element("bdi", reason)) for reason in reasons_in_words(verdict)]
        parts.append(element("ul", reasons, class_="reasons"))
    if named:
        words = dict.fromkeys(span.text for span in named)
        parts.append(_quoted("field named by", " · ".join(words)))
    if verdict.context and verdict.context != verdict.passage:
        parts.append(_quoted("quoted", verdict.context))
    if near:
        parts.append(_quoted("nearest", near))
    elif verdict.passage and "not_found" not in verdict.reasons:
        parts.append(_quoted("passage", verdict.passage))
    return element(
        "li",
        parts,
        class_=f"card {verdict.decision}",
        id=f"v{number}",
        data_v=number,
        data_decision=verdict.decision,
        tabindex=0,
    )


def _measure(verdict: Verdict) -> Markup:
    score, threshold = verdict.score or 0.0, verdict.threshold
    told = f"score {score:.2f}"
    drawn = [
        element("rect", class_="whole", width=100, height=4, rx=2),
        element("rect", class_="part", width=f"{100 * score:.1f}", height=4, rx=2),
    ]
    if threshold is not None:
        told += f", threshold {threshold:.2f}"
        drawn.append(element("rect", class_="limit", x=f"{100 * threshold:.1f}", width=1, height=4))
    bar = element("svg", drawn, viewBox="0 0 100 4", preserveAspectRatio="none", aria_hidden="true")
    return element("div", [bar, element("span", told)], class_="measure")


def _quoted(who: str, words: str) -> Markup:
    quote = element("q", element("bdi", cut(words, MAX_QUOTE)))
    return element("div", [element("span", who, class_="who"), quote], class_="quoted")


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("static", name).read_text("utf-8")


@cache
def _policy() -> str:
    """Our own script and style by their digests, and nothing else from anywhere."""
    sources = (("script", "report.js"), ("style", "report.css"))
    digests = ((kind, hashlib.sha256(_asset(name).encode()).digest()) for kind, name in sources)
    own = "; ".join(f"{kind}-src 'sha256-{b64encode(said).decode()}'" for kind, said in digests)
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
