"""Were the promises kept? A pure function of a `History`."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from safepassage.schemas import Verdict
from safepassage.streams.verdicts.deduplication import substance

from .history import Entry, History

VERDICTS = ("accepted", "quarantine")

Place = tuple[str, int, int]


@dataclass(slots=True)
class Findings:
    """What was found; every list but the last two figures breaks a promise.

    ``repeated`` counts deliveries beyond the first (allowed: P3 asks for one effect, not for
    one delivery), ``conflicts`` ids that stand for two contents (not allowed).
    """

    documents: int = 0
    extractions: int = 0
    accepted: int = 0
    lost: list[str] = field(default_factory=list)
    not_taken_over: list[str] = field(default_factory=list)
    ended_twice: list[str] = field(default_factory=list)
    unevidenced: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)
    undrained: int = 0
    repeated: int = 0
    dead_letters: int = 0


def check(history: History) -> Findings:
    """Everything that the history says about the promises P1 to P4 and P6."""
    findings = Findings(undrained=history.undrained)
    texts = {entry.place: entry.event for entry in history.of("documents")}
    findings.documents = len(texts)
    ends = _ends(history)
    findings.extractions = len(ends)
    findings.dead_letters = sum(1 for _ in history.of("dead-letters"))
    findings.lost = [*_lost_documents(history, texts, ends)]
    findings.not_taken_over = [*_not_taken_over(history, texts)]
    findings.ended_twice = [e for e, kinds in ends.items() if len(kinds) > 1]
    findings.unevidenced = [*_unevidenced(history, texts)]
    findings.out_of_order = [*_out_of_order(history)]
    _compare_repetitions(history, findings)
    return findings


def _ends(history: History) -> dict[str, set[str]]:
    """How each extraction ended: the topics that hold its verdicts or its dead letter. A verdict in
    the place of a scorer's counts where there is no other; what a person said afterwards ends
    nothing."""
    ends: dict[str, set[str]] = defaultdict(set)
    instead: dict[str, str] = {}
    for entry in history.of(*VERDICTS, "dead-letters"):
        if entry.event and (extraction_id := entry.event.get("extraction_id")):
            review = entry.event.get("review")
            if review is None:
                ends[extraction_id].add(entry.topic)
            elif review.get("in_place"):
                instead[extraction_id] = entry.topic
    return defaultdict(set, {**{e: {topic} for e, topic in instead.items()}, **ends})


def _lost_documents(
    history: History, texts: dict[Place, Any], ends: dict[str, set[str]]
) -> Iterator[str]:
    letters = [entry.event for entry in history.of("dead-letters") if entry.event]
    dead = {_place(letter["source"]) for letter in letters if not letter.get("manifest_stands")}
    partly = {_place(letter["source"]) for letter in letters if letter.get("manifest_stands")}
    manifests: dict[Place, set[str]] = defaultdict(set)
    refused: dict[Place, set[str]] = defaultdict(set)
    for entry in history.of("manifests"):
        if entry.event:
            about = _place(entry.event["document"]["coordinates"])
            manifests[about] |= set(entry.event["extraction_ids"])
            if about in partly:  # else no letter says of what the broker refused
                refused[about] |= set(entry.event.get("refused", ()))
    expected = _expected_values(history)
    values = _extracted_values(history)
    for place, document in texts.items():
        if place in dead:
            continue
        if place not in manifests:
            yield f"document at {place}"
            continue
        ended = ends.keys() | refused[place]
        yield from (f"extraction {e}" for e in manifests[place] - ended)
        wanted = expected.get(_serial(document), set())
        found = {values.get(extraction_id) for extraction_id in manifests[place]}
        # What was refused stands on no topic, so its value cannot be looked up.
        if not refused[place]:
            yield from (f"value {value}" for value in wanted - found)


def _not_taken_over(history: History, texts: dict[Place, Any]) -> Iterator[str]:
    """Values that an LLM found and that were accepted, whose quote stands in every later version
    of the document that asked for no LLM, and of which the last version says nothing good."""
    versions: dict[str, list[tuple[Place, str]]] = defaultdict(list)
    for place, document in texts.items():
        if document and document.get("realign"):
            versions[document["id"]].append((place, document["text"]))
    upheld = {
        (_place(event["document"]["coordinates"]), event["value"])
        for entry in history.of("realignments")
        if (event := entry.event) and event["outcome"] in ("upheld", "moved", "reworded")
    }
    for entry in history.of("accepted"):
        verdict = entry.event
        if verdict is None or verdict.get("former") or verdict["doc_id"] not in versions:
            continue
        later = versions[verdict["doc_id"]]
        last = max(place for place, _ in later)
        stands = all(verdict["context"] in text for _, text in later)
        if stands and (last, verdict["value"]) not in upheld:
            yield f"value {verdict['value']} in the version at {last}"


def _expected_values(history: History) -> dict[str, set[str]]:
    expected: dict[str, set[str]] = defaultdict(set)
    for row in history.expected:
        serial = f"{int(row['id'].rsplit('-', 2)[1]):06}"
        expected[serial].add(row["value"])
    return expected


def _extracted_values(history: History) -> dict[str, str]:
    return {e.event["id"]: e.event["value"] for e in history.of("extractions") if e.event}


def _serial(document: dict[str, Any] | None) -> str:
    text = str((document or {}).get("text", ""))
    return text.removeprefix("Serial ")[:6] if text.startswith("Serial ") else ""


def _unevidenced(history: History, texts: dict[Place, Any]) -> Iterator[str]:
    """Accepted verdicts without their evidence, or that the load knows to be wrong."""
    traps = {row["value"] for row in history.expected if row["label"] != 1}
    for entry in history.of("accepted"):
        if entry.event and (review := entry.event.get("review")) and review["reviewer"]:
            continue  # a named reviewer stands for it
        problem = _problem(entry.event, texts)
        if problem is None and entry.event and entry.event["value"] in traps:
            problem = "the load knows that it is unsupported"
        if problem:
            yield f"{entry.place}: {problem}"


def _problem(verdict: dict[str, Any] | None, texts: dict[Place, Any]) -> str | None:
    if verdict is None or verdict.get("decision") != "accepted":
        return "no accepted verdict"
    score, threshold, alignment = verdict["score"], verdict["threshold"], verdict["alignment"]
    if score is None or threshold is None or not math.isfinite(score) or score < threshold:
        return f"score {score} against {threshold}"
    if not alignment or not alignment["spans"] or alignment["score"] < alignment["threshold"]:
        return "no alignment"
    document = texts.get(_place(verdict["document"]["coordinates"]))
    if document is None:
        return "its document is not there"
    for span in (*alignment["spans"], *alignment["passages"]):
        if document["text"][span["start"] : span["end"]] != span["text"]:
            return "a span is no slice of the document"
    return None


def _out_of_order(history: History) -> Iterator[str]:
    """First deliveries of one key whose documents go backwards.

    ``quarantine`` is written by two roles, each in its own order: by the aligner without a
    score, by the scorer with one.
    """
    latest: dict[tuple[str, int, str, bool], int] = {}
    seen: set[tuple[str, str]] = set()
    for entry in history.of("extractions", "alignments", "manifests", *VERDICTS):
        event = entry.event or {}
        document = event.get("document") or {}
        coordinates = document.get("coordinates")
        # Of a verdict its extraction: judged again by another memory it has another id.
        identity = event.get("extraction_id") or event.get("id")
        identity = identity or event.get("extraction", {}).get("id")
        if not coordinates or event.get("review") or (entry.topic, identity) in seen:
            continue
        if identity:
            seen.add((entry.topic, identity))
        elif not _is_first_manifest(entry, coordinates, seen):
            continue
        lane = (entry.topic, entry.partition, entry.key, event.get("scorer_revision") is None)
        if coordinates["offset"] < latest.get(lane, 0):
            yield f"{entry.place} of key {entry.key}"
        latest[lane] = max(latest.get(lane, 0), coordinates["offset"])


def _is_first_manifest(entry: Entry, coordinates: Any, seen: set[tuple[str, str]]) -> bool:
    identity = (entry.topic, str(coordinates))
    if identity in seen:
        return False
    seen.add(identity)
    return True


def _compare_repetitions(history: History, findings: Findings) -> None:
    contents: dict[str, set[bytes]] = defaultdict(set)
    deliveries: Counter[str] = Counter()
    for entry in history.of(*VERDICTS):
        if entry.event:
            verdict = Verdict.model_validate(entry.event, extra="ignore")
            contents[verdict.id].add(substance(verdict))
            deliveries[verdict.id] += 1
            findings.accepted += deliveries[verdict.id] == 1 and entry.topic == "accepted"
    findings.conflicts = [verdict_id for verdict_id, said in contents.items() if len(said) > 1]
    findings.repeated = deliveries.total() - len(deliveries)


def _place(coordinates: dict[str, Any]) -> Place:
    # Topics carry the run's prefix in events, and none in the history.
    topic = coordinates["topic"].rpartition("-")[2] if coordinates else ""
    return topic, coordinates["partition"], coordinates["offset"]
