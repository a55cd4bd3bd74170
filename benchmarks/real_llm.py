"""The extractor, the guardrail and the graders on a real LLM's answers, mistakes and all.

    python benchmarks/llama_server.py model.gguf              an LLM on this machine
    export OPENAI_BASE_URL=http://127.0.0.1:8099/v1
    python benchmarks/real_llm.py ask ../shared/data/written asked.jsonl --documents 30
    python benchmarks/real_llm.py judge ../shared/data/written asked.jsonl --read read.json --json F
    python benchmarks/real_llm.py reask ../shared/data/written asked.jsonl reasked.jsonl

`ask` takes documents of the dev part of the written cases, one of each domain first, and makes a
schema of eleven classes of each one's fields. It appends a line a document and goes on where it
stopped. `judge` says of each value whether it is right: by the written rows where they have the
value, else by `read.json`, {"document#number": true or false}, which a person wrote; it prints what
is still to read. `judge --scorer llm` has the LLM judge what it extracted itself. `reask` tells the
LLM what was stopped and why, and writes what it gave then, for `judge` again.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, create_model

from safepassage import Extraction as Extracted
from safepassage import Verifier
from safepassage.agents.extraction.answers import read_answer
from safepassage.agents.extraction.extractor import Extractor
from safepassage.agents.extraction.prompt import Message
from safepassage.agents.extraction.schema_loading import user_schema
from safepassage.extraction import as_events
from safepassage.llm_calls.client import create_client
from safepassage.llm_calls.errors import LLMError
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.llm_calls.settings import GraderSettings, LLMSettings
from safepassage.pipeline import align_all, judge_in_batches, new_aligner
from safepassage.schemas import Document, Entity, Extraction, Verdict, canonical_json
from safepassage.scoring_worker import load_scorer
from safepassage.settings import JudgingSettings

FIELDS = 11
MAX_TOKENS = 1500
PATIENCE_SECONDS = 600.0


@dataclass(frozen=True)
class Case:
    """A written document, and what is right and wrong in it by field."""

    document: Document
    fields: Mapping[str, str]
    right: Mapping[str, set[str]]
    wrong: Mapping[str, set[str]]

    def label(self, entity_type: str, value: object) -> bool | None:
        """Whether the value is right by the rows; None where no row has it."""
        written = _plain(value)
        if written in self.right.get(entity_type, ()):
            return True
        return False if written in self.wrong.get(entity_type, ()) else None


def cases(folder: Path) -> list[Case]:
    """Of the dev part: the first document of each domain, then the second, and so on."""
    texts = {row["id"]: row["text"] for row in _rows(folder / "documents.jsonl.gz")}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(folder / "extractions.jsonl.gz"):
        rows[row["doc_id"]].append(row)
    domains: dict[str, list[str]] = defaultdict(list)
    for about in _rows(folder / "about.jsonl.gz"):
        if about["split"] == "dev":
            domains[about["domain"]].append(about["doc_id"])
    order = sorted((n, d) for ids in domains.values() for n, d in enumerate(ids))
    return [_case(Document(id=d, text=texts[d]), rows[d]) for _, d in order]


def _case(document: Document, rows: Sequence[Mapping[str, Any]]) -> Case:
    described = {r["entity_type"]: (r.get("field") or {}).get("description", "") for r in rows}
    fields = dict(list(described.items())[:FIELDS])
    right: dict[str, set[str]] = defaultdict(set)
    wrong: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        (right if row["label"] else wrong)[row["entity_type"]].add(_plain(row["value"]))
    return Case(document, fields, right, wrong)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _plain(value: object) -> str:
    """A value as it is compared: letters and digits alone."""
    text = value if isinstance(value, str) else canonical_json(value)  # type: ignore[arg-type]
    return "".join(re.findall(r"\w+", text.casefold()))


def schema_of_fields(fields: Mapping[str, str]) -> type[BaseModel]:
    """A model with a list of entities for each field."""
    made: dict[str, Any] = {}
    for name, description in fields.items():
        slug = "_".join(re.findall(r"[a-z0-9]+", name.lower())) or f"field_{len(made)}"
        kind = create_model(slug.title().replace("_", ""), __base__=Entity, value=(str, ...))
        kind.entity_type, kind.__doc__ = name, description or None
        kind.model_rebuild(force=True)
        made[slug] = (list[kind], ...)  # type: ignore[valid-type]
    return create_model("Facts", **made)


async def ask(folder: Path, out: Path, most: int, seconds: float, slots: int = 1) -> None:
    """Extract from up to ``most`` documents that ``out`` has not, ``slots`` at once; none is begun
    after ``seconds``."""
    settings, done = LLMSettings(), {row["id"] for row in _kept(out)}
    ends, left = time.monotonic() + seconds, iter(cases(folder)[:most])

    async def answer() -> None:
        for case in left:
            if case.document.id in done or time.monotonic() > ends:
                continue
            row = await _asked(client, case, settings)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            found = row["error"] or f"{len(row['extractions'])} values"
            print(row["id"], found, row["usage"], flush=True)

    async with create_client(settings.openai_base_url, timeout=PATIENCE_SECONDS) as client:
        await asyncio.gather(*(answer() for _ in range(slots)))


async def _asked(client: Any, case: Case, settings: LLMSettings) -> dict[str, Any]:
    extractor = Extractor(
        client,
        **_options(case, settings),
        ask_again_below=JudgingSettings().alignment_threshold,
    )
    row: dict[str, Any] = {"id": case.document.id, "error": None, "extractions": [], "usage": None}
    try:
        found = await extractor.examine(case.document, case.document.ref())
    except LLMError as error:
        return row | {"error": error.code}
    usage = found.spent.model_dump(mode="json") if found.spent else None
    extractions = [json.loads(one.to_json()) for one in found.extractions]
    skipped = dict(found.skipped)
    return row | {"extractions": extractions, "usage": usage, "skipped": skipped}


def _options(case: Case, settings: LLMSettings) -> dict[str, Any]:
    return {
        "model": settings.model,
        "schema": user_schema(schema_of_fields(case.fields)),
        "timeout": PATIENCE_SECONDS,
        "retries": RetryPolicy(attempts=1),
        "max_concurrency": 1,
        "temperature": 0.0,
        "max_tokens": MAX_TOKENS,
    }


async def reask(folder: Path, asked: Path, out: Path, most: int) -> None:
    """Tell the LLM of each document what was stopped, and keep what it gives then."""
    settings, done = LLMSettings(), {row["id"] for row in _kept(out)}
    known, verifier = {case.document.id: case for case in cases(folder)}, Verifier()
    async with create_client(settings.openai_base_url, timeout=PATIENCE_SECONDS) as client:
        for row in _kept(asked)[:most]:
            if row["id"] in done:
                continue
            case = known[row["id"]]
            options = _options(case, settings)
            given = [Extraction.model_validate(one) for one in row["extractions"]]
            result = await verifier.averify(case.document, [_simple(one) for one in given])
            stopped = {verdict.extraction_id for verdict in result.stopped}
            then: list[Message] = [{"role": "user", "content": result.feedback()}]
            extractor = Extractor(client, **options)
            completion = await extractor.complete(case.document.text, then)
            found = read_answer(options["schema"], completion.content).findings
            final = [_simple(one) for one in given if one.id not in stopped] + [
                Extracted(f.entity_type, f.value, f.context, field=f.schema_field) for f in found
            ]
            events = as_events(final, case.document.ref())
            kept = {event.id: json.loads(event.to_json()) for event in events}
            line = {"id": row["id"], "error": None, "usage": None, "extractions": [*kept.values()]}
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            print(row["id"], f"{len(stopped)} stopped, {len(found)} given again")


def _simple(event: Extraction) -> Extracted:
    return Extracted(event.entity_type, event.value, event.context, field=event.field)


def _kept(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def judged(rows: Sequence[dict[str, Any]], folder: Path, scorer: str) -> list[Verdict]:
    """The stream's verdicts on what was extracted."""
    documents = {case.document.id: case.document for case in cases(folder)}
    extractions = [Extraction.model_validate(one) for row in rows for one in row["extractions"]]
    settings = GraderSettings(llm_timeout_seconds=PATIENCE_SECONDS)
    aligner, loaded = new_aligner(JudgingSettings()), load_scorer(scorer, packs=(), grader=settings)
    try:
        aligned = align_all(extractions, documents, aligner)
        return list(judge_in_batches(aligned, loaded.assess))
    finally:
        aligner.close()
        loaded.close()


def report(
    rows: Sequence[dict[str, Any]], folder: Path, read: Mapping[str, bool], scorer: str
) -> dict[str, Any]:
    """The figures of docs/measured/real-model.md."""
    known = {case.document.id: case for case in cases(folder)}
    decided: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    second: Counter[str] = Counter()
    unread: list[dict[str, Any]] = []
    numbers: Counter[str] = Counter()
    quoted = {one["id"]: one["context"] for row in rows for one in row["extractions"]}
    by_rows = 0
    for verdict in judged(rows, folder, scorer):
        name = f"{verdict.doc_id}#{numbers[verdict.doc_id]}"
        numbers[verdict.doc_id] += 1
        label = known[verdict.doc_id].label(verdict.entity_type, verdict.value)
        by_rows += label is not None
        if (label := read.get(name, label)) is None:
            said = {"entity_type": verdict.entity_type, "value": verdict.value}
            unread.append({"id": name, **said, "context": quoted[verdict.extraction_id]})
            continue
        kind = "right" if label else "wrong"
        decided[f"{kind} {verdict.decision}"] += 1
        reasons.update(f"{kind} {reason}" for reason in verdict.reasons)
        second.update([f"{kind} {verdict.decision}"] if verdict.attempt == 2 else [])
    usages = [row["usage"] for row in rows if row["usage"]]
    return {
        "documents": len(rows),
        "errors": dict(Counter(row["error"] for row in rows if row["error"])),
        "extractions": sum(len(row["extractions"]) for row in rows),
        "labelled by the rows": by_rows,
        "decisions": dict(sorted(decided.items())),
        "reasons": dict(sorted(reasons.items())),
        "second attempts": dict(second),
        "input tokens": sum(usage["input_tokens"] for usage in usages),
        "output tokens": sum(usage["output_tokens"] for usage in usages),
        "minutes": round(sum(usage["milliseconds"] for usage in usages) / 60_000, 1),
        "unread": unread,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("ask", "judge", "reask"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("asked", type=Path)
        command.add_argument("--documents", type=int, default=30)
    commands.choices["ask"].add_argument("--seconds", type=float, default=86_400)
    commands.choices["ask"].add_argument("--slots", type=int, default=1)
    commands.choices["reask"].add_argument("out", type=Path)
    commands.choices["judge"].add_argument("--read", type=Path)
    commands.choices["judge"].add_argument("--scorer", default="default")
    commands.choices["judge"].add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.command == "ask":
        asyncio.run(ask(given.folder, given.asked, given.documents, given.seconds, given.slots))
        return
    if given.command == "reask":
        asyncio.run(reask(given.folder, given.asked, given.out, given.documents))
        return
    read = json.loads(given.read.read_text()) if given.read else {}
    found = report(_kept(given.asked)[: given.documents], given.folder, read, given.scorer)
    if given.json:
        given.json.write_text(json.dumps(found | {"unread": len(found["unread"])}, indent=1))
    print(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
