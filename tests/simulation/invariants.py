"""The promises of docs/concepts/promises.md, held against a run: some at every step of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import orjson
from aiokafka import ConsumerRecord, TopicPartition

from safepassage.schemas import Review, Verdict
from safepassage.schemas.ids import canonical_json
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import decision_on, verdict_in_place
from safepassage.scoring_worker.memory.learning import RemembersDecisions
from safepassage.streams.audit.verification import verify
from safepassage.streams.memory.live import Snapshots, memory_as_it_stands
from safepassage.streams.settings import Settings
from safepassage.streams.verdicts.deduplication import Conflict, Unread, read_verdicts
from tests.faults.checker import check
from tests.faults.history import Entry, History

from .broker import Broker

VERDICTS = ("accepted", "quarantine")
Place = tuple[str, int, int]
Broken = tuple[str, str]
"""The promise, and what breaks it."""


class Watch:
    """Sees every record and every commit as the broker takes it."""

    def __init__(self, broker: Broker) -> None:
        self.broken: list[Broken] = []
        self.entries: list[Entry] = []  # in the order in which they were written
        self._broker = broker
        self._manifests: dict[Place, dict[str, Any]] = {}
        self._letters: set[Place] = set()
        self._ids: defaultdict[str, set[str]] = defaultdict(set)
        self._reported: set[Place] = set()
        self._audited: set[Place] = set()
        self._snapshots: set[str] = set()
        self._versions: set[Place] = set()
        self._checked: defaultdict[tuple[str, TopicPartition], int] = defaultdict(int)
        broker.on_append, broker.on_commit = self.appended, self.committed

    def appended(self, record: ConsumerRecord) -> None:
        """Note what the record says. No verdict names a memory that is not on the topic."""
        event = _event(record.value)
        key = (record.key or b"").decode("utf-8", "replace")
        self.entries.append(Entry(record.topic, record.partition, record.offset, key, event))
        if event is None:
            return
        match record.topic:
            case "manifests":
                self._manifests[_place(event["document"]["coordinates"])] = event
            case "dead-letters":
                self._letters.add(_place(event["source"]))
            case "extractions":
                self._ids["extractions"].add(event["id"])
            case "alignments":
                self._ids["alignments"].add(event["extraction"]["id"])
            case "reports":
                self._reported.add(_place(event["document"]["coordinates"]))
            case "audit":
                self._audited.update(_place(entry["source"]) for entry in event["entries"])
            case "versions":
                self._versions.add(_place(event["document"]["coordinates"]))
            case "memories":
                self._snapshots.add(event["name"])
            case "accepted" | "quarantine":
                self._ids["verdicts"].add(event["extraction_id"])
                named = (event.get("memory") or {}).get("snapshot")
                if named and named not in self._snapshots:
                    self.broken.append(("P7", f"a verdict names memory {named}, which is nowhere"))

    def committed(self, group: str, tp: TopicPartition, offset: int) -> None:
        """P1: all that the records below ``offset`` led to is on its topic. P6: what was done is
        not given back, to be done again."""
        role = group.rpartition("-")[2]
        before = self._broker.groups[group].committed.get(tp)
        if before and offset < before.offset:
            self.broken.append(
                (
                    "P6",
                    f"{role} takes {tp.topic}-{tp.partition} back from {before.offset} to {offset}",
                )
            )
        first = self._checked[role, tp]
        for record in self._broker.logs[tp][first:offset]:
            if missing := self._missing(role, record):
                self.broken.append(
                    ("P1", f"{role} commits {offset} of {tp.topic}-{tp.partition}: {missing}")
                )
        self._checked[role, tp] = max(first, offset)

    def _missing(self, role: str, record: ConsumerRecord) -> str | None:  # noqa: PLR0911 - a role a line
        place = (record.topic, record.partition, record.offset)
        if place in self._letters or role == "drift":
            return None
        event = _event(record.value)
        match role, record.topic:
            case "extract", "documents" if event and event.get("realign"):
                return None if place in self._versions else f"no version of {place}"
            case "realign", "versions" if event:
                there = _place(event["document"]["coordinates"]) in self._manifests
                return None if there else f"no manifest of the version {place}"
            case "extract", "documents":
                manifest = self._manifests.get(place)
                if manifest is None:
                    return f"no manifest of {place}"
                awaited = set(manifest["extraction_ids"]) - set(manifest.get("refused", ()))
                gone = awaited - self._ids["extractions"]
                return f"no extraction {min(gone)}" if gone else None
            case "align", "extractions" if event:
                there = event["id"] in self._ids["alignments"] | self._ids["verdicts"]
                return None if there else f"no result of {event['id']}"
            case "score", "alignments" if event:
                there = event["extraction"]["id"] in self._ids["verdicts"]
                return None if there else f"no verdict on {event['extraction']['id']}"
            case "report", "manifests" if event:
                there = _place(event["document"]["coordinates"]) in self._reported
                return None if there else f"no report of {place}"
            case "audit", _:
                return None if place in self._audited else f"no chain holds {place}"
        return None


def _event(value: bytes | None) -> dict[str, Any] | None:
    try:
        event = orjson.loads(value or b"")
    except orjson.JSONDecodeError:
        return None
    return event if isinstance(event, dict) else None


def _place(coordinates: Mapping[str, Any]) -> Place:
    return coordinates["topic"], coordinates["partition"], coordinates["offset"]


def after_the_run(watch: Watch, expected: Sequence[Any], undrained: int) -> Iterator[Broken]:
    """P1 to P4 and P6 by the checker of tests/faults, and what people decided."""
    rows = [row.model_dump(mode="json") for row in expected]
    findings = check(History(rows, watch.entries, undrained))
    promises = {
        "lost": "P1",
        "ended_twice": "P1",
        "unevidenced": "P2",
        "conflicts": "P3",
        "out_of_order": "P4",
    }
    for name, promise in promises.items():
        if found := getattr(findings, name):
            yield promise, f"{name}: {found[0]}, {len(found)} in all"
    if undrained:
        yield "P6", f"{undrained} records are not done"
    yield from _realignments(watch.entries)
    yield from _decisions(watch.entries)
    yield from _four_eyes(watch.entries)


def _realignments(entries: Sequence[Entry]) -> Iterator[Broken]:
    """Each verdict on a value that was taken over is told once. What stands accepted at the end in
    the version before the newest, of those that were judged, was taken over into the newest one,
    where that asked for no LLM."""
    told: defaultdict[str, set[str]] = defaultdict(set)
    over: defaultdict[Place, set[str]] = defaultdict(set)
    judged: dict[str, dict[str, Any]] = {}  # by extraction, the verdict that stands
    for entry in entries:
        event = entry.event or {}
        if entry.topic == "realignments":
            told[event["verdict_id"]].add(event["id"])
            over[_about(event)].add(event["former_extraction_id"])
        elif entry.topic == "extractions" and event.get("former"):
            over[_about(event)].add(event["former"]["extraction_id"])
        elif entry.topic in VERDICTS:
            judged[event["extraction_id"]] = event
    for verdict in judged.values():
        times = len(told[verdict["id"]])
        if verdict.get("former") and times != 1:
            yield "realignments", f"verdict {verdict['id']} is told {times} times"
    accepted: defaultdict[Place, set[str]] = defaultdict(set)
    for extraction_id, verdict in judged.items():
        own = accepted[_about(verdict)]
        if verdict["decision"] == "accepted":
            own.add(extraction_id)
    for before, newest in _newest_versions(entries, accepted.keys()):
        if left := accepted[before] - over[newest]:
            values = f"{len(left)} values of {before}, as {min(left)},"
            yield "realignments", f"{values} are not taken over into {newest}"


def _newest_versions(
    entries: Sequence[Entry], judged: Collection[Place]
) -> Iterator[tuple[Place, Place]]:
    """The newest version of each document, where that asks for no LLM, with the one before of those
    that were judged. Documents of which dead letters tell, or the broker refused a part, are left
    out."""
    versions: defaultdict[str, list[Place]] = defaultdict(list)
    without_llm: set[Place] = set()
    broken_off: set[Place] = set()
    for entry in entries:
        event = entry.event or {}
        if entry.topic == "documents" and entry.key != "poison":
            versions[event["id"]].append(entry.place)
            if event.get("realign"):
                without_llm.add(entry.place)
        elif entry.topic == "dead-letters":
            broken_off |= {_place(one) for one in (event["source"], event.get("document")) if one}
        elif entry.topic == "manifests" and event.get("refused"):
            broken_off.add(_about(event))
    for own in versions.values():
        *earlier, newest = sorted(own)
        before = [version for version in earlier if version in judged]
        if before and newest in without_llm and not broken_off.intersection(own):
            yield before[-1], newest


def _about(event: Mapping[str, Any]) -> Place:
    return _place(event["document"]["coordinates"])


def _decisions(entries: Sequence[Entry]) -> Iterator[Broken]:
    """What downstream holds last of each case is what the reviews of it come to."""
    judged: dict[str, Verdict] = {}
    latest: dict[str, Verdict] = {}
    seen: set[str] = set()
    reviews: defaultdict[str, dict[str, Review]] = defaultdict(dict)
    decided: dict[str, Any] = {}
    for entry in entries:
        if entry.event is None:
            continue
        if entry.topic == "reviews":
            review = Review.model_validate(entry.event, extra="ignore")
            reviews[case_id(review.verdict)].setdefault(review.id, review)
        elif entry.topic == "decisions":
            decided[entry.event["case_id"]] = entry.event.get("decision")
        elif entry.topic in VERDICTS and entry.event["id"] not in seen:
            verdict = Verdict.model_validate(entry.event, extra="ignore")
            seen.add(verdict.id)
            latest[case_id(verdict)] = verdict
            if verdict.review is None:
                judged[case_id(verdict)] = verdict
    for case, own in reviews.items():
        machine = judged.get(case) or next(iter(own.values())).verdict
        decision = decision_on(machine, list(own.values()))
        if decision is None:
            continue
        wanted = verdict_in_place(machine, decision) or machine
        if _says(latest[case]) != _says(wanted):
            yield (
                "decisions",
                f"case {case}: {_says(latest[case])} stands, not {_says(wanted)}",
            )
        if decided.get(case) != decision.decision:
            yield "decisions", f"case {case}: the topic says {decided.get(case)}"


def _four_eyes(entries: Sequence[Entry]) -> Iterator[Broken]:
    """No value passes that the scorer stopped, or that a person typed, before as many different
    people decided so as the review says that are needed."""
    people: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    needed: dict[str, tuple[str, int]] = {}
    passed: dict[str, bool] = {}  # the scorer's verdicts, also those that were withheld
    for entry in entries:
        if entry.event is None:
            continue
        if entry.topic == "reviews":
            review = Review.model_validate(entry.event, extra="ignore")
            value = canonical_json(review.value)
            people[case_id(review.verdict), review.decision, value].add(review.person)
            needed[review.id] = case_id(review.verdict), review.approvals
        elif entry.topic in VERDICTS:
            verdict = Verdict.model_validate(entry.event, extra="ignore")
            trail = verdict.review
            if trail is None or (trail.in_place and not trail.stands):
                # Of what a person took back on the version before, the scorer's word counts again.
                passed[verdict.id] = verdict.decision == "accepted"
            elif verdict.decision == "accepted" and not passed.get(trail.judged or ""):
                typed = trail.corrects is not None
                said = (
                    ("corrected", canonical_json(verdict.value)) if typed else ("supports", "null")
                )
                # A decision on an earlier version of the document was made on that one's case.
                case, approvals = needed.get(trail.review_id, (case_id(verdict), 1))
                approved = people[(case, *said)]
                if len(approved) < approvals:
                    yield "four eyes", f"{verdict.id} passes by {sorted(approved)}"


def _says(verdict: Verdict) -> tuple[str, str]:
    return verdict.decision, canonical_json(verdict.value)


async def by_reading(settings: Settings, watch: Watch, scorer: RemembersDecisions) -> list[Broken]:
    """What a consumer sees: each verdict once (P3), chains that verify (P8). What the next worker
    remembers: nothing that was undone. The last snapshot on the topic may hold it, where a worker
    that was behind wrote it just before its end."""
    broken: list[Broken] = []
    seen: set[str] = set()
    async for result in read_verdicts(settings):
        if isinstance(result, Conflict | Unread):
            broken.append(("P3", str(result)))
        elif result.event.id in seen:
            broken.append(("P3", f"verdict {result.event.id} is read twice"))
        else:
            seen.add(result.event.id)
    audit = await verify(settings)
    broken += [("P8", str(finding)) for finding in audit.findings[:1]]
    if audit.pending:
        broken.append(("P8", f"{audit.pending} verdicts are in no chain"))
    decided = {
        entry.event["case_id"]: (entry.event["review_id"], entry.event.get("decision"))
        for entry in watch.entries
        if entry.topic == "decisions" and entry.event
    }
    snapshots = await Snapshots().read(settings)
    for revision, name in snapshots._last.items():
        if snapshots.last(revision).name != name:
            broken.append(("P7", f"memory {name} cannot be built"))
    for entry in (await memory_as_it_stands(settings, scorer)).entries.values():
        review, decision = decided.get(entry.case_id, (None, None))
        if decision is None or review != entry.review_id:
            broken.append(("decisions", f"the memory holds {entry.case_id}, as it was before"))
    return broken
