"""The guardrail as an agent's tools, through the protocol's own client."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from safepassage import Verifier
from safepassage.mcp_server import mcp_server

from .scorers import WordScorer
from .service.running import BAD, GOOD, INVENTED, TEXT

ROOT = Path(__file__).resolve().parents[2]


def loading(scorer: WordScorer, loads: list[Verifier]) -> Verifier:
    loads.append(Verifier(scorer))
    return loads[-1]


async def test_an_agent_verifies_facts_and_reads_what_to_mend():
    loads: list[Verifier] = []
    async with Client(mcp_server(lambda: loading(WordScorer(), loads))) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"verify", "claims"}
        assert loads == []
        asked = {"text": TEXT, "extractions": [GOOD, BAD, INVENTED]}
        answers = await asyncio.gather(*(client.call_tool("verify", asked) for _ in range(3)))
    assert len(loads) == 1
    said = answers[0].structured_content
    assert [(j["value"], j["decision"], j["reasons"]) for j in said["judged"]] == [
        ("£1,250", "accepted", []),
        ("£1,350", "quarantined", ["unsupported"]),
        ("Ann Lee", "quarantined", ["not_found"]),
    ]
    assert said["judged"][0]["passage"] == "a monthly rent of £1,250"
    assert "The quote is not in the document." in said["feedback"]
    loads[0].close()


async def test_an_agent_checks_the_sentences_of_an_answer():
    with Verifier(WordScorer()) as verifier:
        async with Client(mcp_server(lambda: verifier)) as client:
            answer = "a monthly rent of £1,250. Dogs are welcome in the garden."
            asked = {"context": [TEXT], "answer": answer}
            said = (await client.call_tool("claims", asked)).structured_content
    assert [j["decision"] for j in said["judged"]] == ["accepted", "quarantined"]


@pytest.mark.parametrize(
    "extraction", [{"type": "Rent"}, {**GOOD, "value": None}, {**GOOD, "type": ""}]
)
async def test_what_is_no_extraction_is_an_error_of_the_tool(extraction: dict[str, object]):
    with Verifier(WordScorer()) as verifier:
        async with Client(mcp_server(lambda: verifier)) as client:
            asked = {"text": TEXT, "extractions": [extraction]}
            answer = await client.call_tool("verify", asked)
    assert answer.is_error
    (said,) = answer.content
    assert re.match(r"extraction(s\.0| 1)\W.*(type|value|quote)", said.text)
    assert "errors.pydantic.dev" not in said.text
    assert "input_value" not in said.text


async def test_the_arguments_are_called_what_the_descriptions_call_them():
    async with Client(mcp_server(lambda: pytest.fail("nothing was asked"))) as client:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    asked = tools["verify"]["properties"]["extractions"]
    named = set(re.findall(r"`(\w+)`", asked["description"]))
    fields = tools["verify"]["$defs"]["AskedExtraction"]
    assert named == set(fields["required"])


async def test_a_scorer_that_breaks_says_and_logs_no_text(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    def broken(_: object) -> None:
        raise RuntimeError("secret of the document")

    with Verifier(WordScorer(before=broken)) as verifier:
        async with Client(mcp_server(lambda: verifier)) as client:
            answer = await client.call_tool("verify", {"text": TEXT, "extractions": [GOOD]})
    assert answer.is_error
    assert "secret" not in str(answer) + "".join(capsys.readouterr()) + caplog.text


async def test_the_command_speaks_the_protocol_on_stdout_and_nothing_else():
    """Without a call: a scorer is loaded at the first one."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "safepassage", "mcp"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    async with Client(command, read_timeout_seconds=60) as client:
        assert len((await client.list_tools()).tools) == 2


async def test_a_line_that_is_no_message_is_answered_and_ends_nothing():
    surrogate = r'{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"\ud800"}}'
    unreadable = ["no JSON", "[1,2", "\xff\xfe", surrogate, "{" * 10_000_000]
    known = '{"jsonrpc":"2.0","id":7,"method":"tools/nothing"}'
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "safepassage", "mcp"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n".join((*unreadable, known, "")).encode("latin-1"))
    answers = [json.loads(await process.stdout.readline()) for _ in (*unreadable, known)]
    process.stdin.close()
    assert [a["id"] for a in answers] == [None] * len(unreadable) + [7]
    assert all("no JSON-RPC message" in a["error"]["message"] for a in answers[:-1])
    assert await process.wait() == 0


@pytest.mark.parametrize(
    ("tool", "asked", "said"),
    [
        ("verify", {"text": " ", "extractions": []}, "text: the text is empty"),
        ("claims", {"answer": "It rains.", "passages": []}, "context: Field required; passages: u"),
    ],
)
async def test_what_http_refuses_no_tool_takes(tool: str, asked: dict[str, object], said: str):
    async with Client(mcp_server(lambda: pytest.fail("nothing is to be judged"))) as client:
        answer = await client.call_tool(tool, asked)
    assert answer.is_error
    assert answer.content[0].text.startswith(said)
