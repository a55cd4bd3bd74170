"""The first hour of a new user: the wheel in a fresh environment, own files of seven kinds, an own
LLM, the commands of docs/index.md, HTTP, the console, and the same documents once more.

The last test asks a real LLM. `LOCAL_LLM=http://127.0.0.1:8099/v1` names an OpenAI-compatible
endpoint of yours (`benchmarks/llama_server.py` is one); without it the test is skipped."""

from __future__ import annotations

import contextlib
import html
import io
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from tests.agents.intake.making import lines, pdf, scan

from . import built

docx = pytest.importorskip("docx", reason="needs the extra `files`")
pytest.importorskip("rapidocr", reason="needs the extra `ocr`")
pytestmark = pytest.mark.long

PATIENCE_SECONDS = 900
LLM_SECONDS = 3_600
"""For eight short documents: a model on one busy core takes minutes for each."""
FEES = {
    "letter.pdf": "The annual fee is 310 euros.",
    "scan.png": "The annual fee is 320 euros.",
    "contract.docx": "The annual fee is 330 euros.",
    "page.html": "The annual fee is 340 euros.",
    "claim.eml": "The annual fee is 350 euros.",
    "note.txt": "The annual fee is 360 euros.",
    "row-1": "The annual fee is 370 euros.",
}
ATTACHED = "The annual fee is 380 euros."
INVENTED = "The annual fee was waived for good customers in the spring of last year."


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with the wheel of this checkout."""
    folder = tmp_path_factory.mktemp("hour")
    _, wheel = built.sdist_and_wheel(built.copy_of_sources(folder / "sources"), folder / "dist")
    python = built.environment_of_a_user(folder / "environment")
    built.install(python, wheel)
    return python


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The user's folder, with files of seven kinds in ``in``."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "letter.pdf").write_bytes(pdf(lines(FEES["letter.pdf"])))
    (folder / "scan.png").write_bytes(scan(pdf(lines(FEES["scan.png"]))))
    word, written = docx.Document(), io.BytesIO()
    word.add_paragraph(FEES["contract.docx"])
    word.save(written)
    (folder / "contract.docx").write_bytes(written.getvalue())
    (folder / "page.html").write_text(f"<html><body><p>{FEES['page.html']}</p></body></html>")
    mail = EmailMessage()
    mail["Subject"] = "Claim"
    mail.set_content(FEES["claim.eml"])
    mail.add_attachment(ATTACHED.encode(), "text", "plain", filename="terms.txt")
    (folder / "claim.eml").write_bytes(mail.as_bytes())
    (folder / "note.txt").write_text(FEES["note.txt"])
    (folder / "rows.jsonl").write_text(json.dumps({"id": "row-1", "text": FEES["row-1"]}))
    return tmp_path


class OwnLLM(BaseHTTPRequestHandler):
    """Finds the fee that stands in the text, and makes one up beside it."""

    asked = 0

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": [{"id": "own", "object": "model"}]})

    def do_POST(self) -> None:
        type(self).asked += 1
        length = int(self.headers["content-length"])
        prompt = json.loads(self.rfile.read(length))["messages"][-1]["content"]
        (fee,) = set(re.findall(r"The annual fee is (\d+) euros\.", prompt))
        found = [
            {"entity_type": "Fee", "value": fee, "context": f"The annual fee is {fee} euros."},
            {"entity_type": "Fee", "value": "0", "context": INVENTED},
        ]
        message = {"role": "assistant", "content": json.dumps({"entities": found})}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        self._answer(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "own",
                "choices": [choice],
                "usage": usage,
            }
        )

    def _answer(self, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def llm() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), OwnLLM) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def environment(python: Path, **more: str) -> dict[str, str]:
    ours = ("PYTHON", "SAFEPASSAGE_", "OPENAI_", "KAFKA_", "REDIS_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"PATH": f"{python.parent}:{kept['PATH']}", "COLUMNS": "200"} | more


def command(
    python: Path,
    folder: Path,
    *words: str,
    status: int = 0,
    patience: float = PATIENCE_SECONDS,
    **more: str,
) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        [str(python.parent / "safepassage"), *words],
        cwd=folder,
        env=environment(python, **more),
        capture_output=True,
        text=True,
        check=False,
        timeout=patience,
    )
    assert ended.returncode == status, ended.stdout[-2000:] + ended.stderr[-4000:]
    assert "Traceback" not in ended.stderr
    return ended


@contextlib.contextmanager
def left_running(
    python: Path, folder: Path, *words: str, **more: str
) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [str(python.parent / "safepassage"), *words],
        cwd=folder,
        env=environment(python, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str], words: str) -> list[str]:
    """The lines up to the one with ``words``."""
    told = []
    for line in process.stdout:
        told.append(line.rstrip())
        if words in line:
            return told
    raise AssertionError(f"it ended before it said {words!r}: {told[-20:]}")


def second_shell(told: list[str]) -> dict[str, str]:
    """The variables that `up` prints for a second shell."""
    lines = [line.removeprefix("export ") for line in told if line.startswith("export ")]
    return {name: value.strip("'") for name, _, value in (line.partition("=") for line in lines)}


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_own_extractions_are_judged_without_a_stack(python: Path, user: Path):
    ids = [row["id"] for row in rows(command(python, user, "files", "in").stdout)]
    named = {*(f"in/{name}" for name in FEES if name != "row-1"), "in/claim.eml#2/terms.txt"}
    assert set(ids) == named | {"row-1"}
    texts = rows(command(python, user, "files", "in", "--text").stdout)
    assert all("annual fee is" in str(row["text"]) for row in texts)
    given = [
        {
            "id": name,
            "doc_id": name,
            "entity_type": "Fee",
            "value": re.search(r"\d+", quote)[0],
            "context": quote,
        }
        for name, quote in {**FEES, "terms.txt": ATTACHED}.items()
    ]
    given.append({**given[0], "id": "invented", "context": INVENTED})
    (user / "own.jsonl").write_text("\n".join(map(json.dumps, given)))
    command(python, user, "check", "-d", "in", "-e", "own.jsonl", "-o", "out.jsonl")
    decided = {row["extraction_id"]: row for row in rows((user / "out.jsonl").read_text())}
    assert {row["doc_id"] for row in decided.values()} == named | {"row-1"}
    assert decided.pop("invented")["reasons"] == ["not_found"]
    assert {row["decision"] for row in decided.values()} == {"accepted"}
    (user / "wrong.jsonl").write_text(json.dumps({**given[0], "doc_id": "doc-17"}))
    wrong = command(python, user, "check", "-d", "in", "-e", "wrong.jsonl", status=1)
    assert "'doc-17'" in wrong.stderr


def test_verdicts_over_http(python: Path, user: Path):
    with left_running(python, user, "serve", SAFEPASSAGE_SERVE_PORT="0") as process:
        address = re.search(r"http://\S+", said(process, "serving http")[-1])[0]
        page = html.unescape(httpx2.get(f"{address}/").text)
        asked = json.loads(page.partition("-d '")[2].partition("'<")[0])
        answer = httpx2.post(f"{address}/v1/verify", json=asked, timeout=PATIENCE_SECONDS).json()
        assert [verdict["decision"] for verdict in answer["verdicts"]] == ["accepted"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0


def test_the_whole_loop_on_own_files_with_an_own_llm(python: Path, user: Path, llm: str):
    own = {"OPENAI_BASE_URL": llm, "OPENAI_API_KEY": "own", "SAFEPASSAGE_MODEL": "own"}
    own |= {"SAFEPASSAGE_ENTITY_TYPES": "Fee"}
    with left_running(python, user, "up", "--empty", **own) as process:
        told = said(process, "Ctrl-C stops everything")
        assert OwnLLM.asked == 0
        console, token = re.search(r"(http://\S+)\s+token: (\S+)", "\n".join(told)).groups()
        shell = own | second_shell(told)
        first = command(python, user, "submit", "in", "--wait", **shell)
        documents = len(FEES) + 1
        assert f"{documents} submitted, 0 refused" in first.stdout
        assert f"{documents} documents" in first.stdout
        assert OwnLLM.asked == documents
        again = command(python, user, "submit", "in", "--wait", **shell)
        assert f"{documents} documents answered from the cache" in again.stdout
        assert OwnLLM.asked == documents
        anew = command(python, user, "submit", "in/note.txt", "--wait", "--no-cache", **shell)
        assert "cache" not in anew.stdout
        assert OwnLLM.asked == documents + 1
        latest = rows(command(python, user, "verdicts", "--latest", **shell).stdout)
        assert {(row["context"] == INVENTED, row["decision"]) for row in latest} == {
            (False, "accepted"),
            (True, "quarantined"),
        }
        with httpx2.Client(base_url=console, follow_redirects=True, timeout=60) as browser:
            assert browser.get("/").status_code == 200
            assert token not in browser.get("/login").text
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)


@pytest.mark.timeout(2 * LLM_SECONDS)
def test_the_same_files_with_a_local_llm(python: Path, user: Path):
    """What it extracts is its own; what passes is in its document, with the document's fee."""
    endpoint = os.environ.get("LOCAL_LLM")
    if not endpoint:
        pytest.skip("LOCAL_LLM names no endpoint, such as http://127.0.0.1:8099/v1")
    models = httpx2.get(f"{endpoint}/models", timeout=60).json()["data"]
    own = {"OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": "none"}
    own |= {"SAFEPASSAGE_MODEL": models[0]["id"], "SAFEPASSAGE_ENTITY_TYPES": "Annual Fee"}
    own |= {"SAFEPASSAGE_LLM_MAX_TOKENS": "300", "SAFEPASSAGE_LLM_TIMEOUT_SECONDS": "600"}
    texts = {
        row["id"]: str(row["text"])
        for row in rows(command(python, user, "files", "in", "--text").stdout)
    }
    with left_running(python, user, "up", "--empty", **own) as process:
        shell = own | second_shell(said(process, "Ctrl-C stops everything"))
        wait = ("submit", "in", "--wait", "--timeout", str(LLM_SECONDS))
        ended = command(python, user, *wait, patience=LLM_SECONDS, **shell)
        assert f"{len(texts)} documents" in ended.stdout
        latest = rows(command(python, user, "verdicts", "--latest", **shell).stdout)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
    passed = [row for row in latest if row["decision"] == "accepted"]
    for row in passed:
        text = texts[row["doc_id"]]
        assert all(span["text"] in text for span in row["alignment"]["spans"])
        figures = re.findall(r"\d+", str(row["value"]))
        assert figures == re.findall(r"annual fee is (\d+)", text)
    assert len({row["doc_id"] for row in passed}) > len(texts) / 2
