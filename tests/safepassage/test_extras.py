"""What `pip install safepassage` alone can do, and what it says of the rest."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from safepassage.extras import MODULES, missing_extra

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ASIDE = {"dev", "bench", "large"}

# Finds everything but the modules named in the first line of stdin, as if they were not there.
FRESH = """
import sys
from importlib.machinery import PathFinder

hidden = set(sys.stdin.readline().split())

class Fresh(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)

sys.meta_path = [Fresh if finder is PathFinder else finder for finder in sys.meta_path]
"""


def lock() -> object:
    spec = importlib.util.spec_from_file_location("lock", ROOT / "tools" / "lock.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hidden_modules() -> list[str]:
    """The modules of every distribution here that ``pip install safepassage`` does not bring."""
    base = set(lock().closure(PROJECT["dependencies"])) | {"safepassage"}
    brought = {
        module: {canonicalize_name(name) for name in names}
        for module, names in packages_distributions().items()
    }
    return sorted(module for module, names in brought.items() if not names & base)


def fresh(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``code`` in a process in which the extras are not installed."""
    return subprocess.run(
        [sys.executable, "-c", FRESH + code, *arguments],
        input=" ".join(hidden_modules()) + "\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=280,
        check=False,
    )


def test_importing_the_library_imports_nothing_heavy():
    heavy = "torch faust transformers openai numpy Bio aiokafka starlette sklearn structlog"
    code = (
        "import safepassage, sys\n"
        "from safepassage import Extraction, Result, Verifier, extractions_of\n"
        f"print([name for name in '{heavy}'.split() if name in sys.modules])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert ended.stdout.strip() == "[]"
    with pytest.raises(AttributeError):
        importlib.import_module("safepassage").nothing_of_that_name  # noqa: B018


@pytest.fixture(scope="module")
def first_calls(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the README's example, and ``check``, print with the default scorer and no extra."""
    folder = tmp_path_factory.mktemp("first")
    documents, extractions = folder / "d.jsonl", folder / "e.jsonl"
    text = "The Tenant shall pay a monthly rent of £1,250 on the first day of each month."
    row = {"id": "e", "doc_id": "d", "entity_type": "Rent", "value": "£1,250"}
    documents.write_text(json.dumps({"id": "d", "text": text}))
    extractions.write_text(json.dumps({**row, "context": "a monthly rent of £1,250"}))
    code = f"""
from safepassage import Extraction, Verifier
given = [Extraction("Rent", v, quote="a monthly rent of £1,250") for v in ("£1,250", "£1,350")]
kinds = "Acme Ltd shall pay for 5 km on 3 May 2024; call +44 20 7946 0958."
values = {{"Length": "5000 m", "Date": "2024-05-03", "Payer": "Acme", "Telephone": "020 7946 0958"}}
with Verifier("default") as verifier:
    result = verifier.verify({text!r}, given)
    claims = verifier.claims({text!r}, "Dogs bark.")
    print(len(result.accepted), len(result.stopped), len(claims.verdicts))
    import asyncio
    assert asyncio.run(verifier.averify({text!r}, given)) == result
    verifier.verify(kinds, [Extraction(n, v, quote=kinds) for n, v in values.items()])
print(*{{name.partition(".")[0] for name in sys.modules}})
try:
    Verifier("llm")
except ImportError as error:
    print(error)
import safepassage.streams.cli
safepassage.streams.cli.main()
"""
    ended = fresh(code, "check", "-d", str(documents), "-e", str(extractions))
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_the_library_and_check_need_no_extra(first_calls: list[str]):
    counts, modules, missing, verdict = first_calls
    assert counts == "1 1 1"
    assert not {"faust", "aiokafka", "redis", "openai", "starlette"} & set(modules.split())
    assert missing.endswith("pip install 'safepassage[llm]'")
    assert json.loads(verdict)["decision"] == "accepted"


BROUGHT_ANYWAY = {"typer", "rich", "huggingface-hub"}
"""`safepassage check` and hub ids need these; what a call loads depends on them as well."""


FOR_OTHER_MODELS = {"transformers"}
"""Readers on a GPU, and scorers of folders and hub ids: a call of `default` on a CPU loads none."""


def test_the_base_is_what_one_call_loads(first_calls: list[str]):
    """What a call does not need is an extra's, unless it is installed with the rest anyway."""
    brought = packages_distributions()
    modules = first_calls[1].split()
    loaded = {canonicalize_name(name) for m in modules for name in brought.get(m, ())}
    assert not FOR_OTHER_MODELS & loaded
    loaded |= FOR_OTHER_MODELS
    base = PROJECT["dependencies"]
    names = {canonicalize_name(Requirement(text).name) for text in base}
    assert names - loaded <= BROUGHT_ANYWAY
    needed = [text for text in base if canonicalize_name(Requirement(text).name) in loaded]
    others = [t for t in needed if canonicalize_name(Requirement(t).name) not in BROUGHT_ANYWAY]
    assert set(lock().closure(others)) == set(lock().closure(base))


def test_a_user_s_requirements_are_ranges():
    """Faust's internals are overridden, and the weights of `large` decide verdicts."""
    extras = (t for own in PROJECT["optional-dependencies"].values() for t in own)
    exact = {
        Requirement(text).name
        for text in [*PROJECT["dependencies"], *extras]
        if any(one.operator in ("==", "===") for one in Requirement(text).specifier)
    }
    assert exact == {"faust-streaming", "safepassage-large"}
    assert not exact & {Requirement(text).name for text in PROJECT["dependencies"]}


COMMANDS = {
    "worker score": "stream",
    "demo": "demo",
    "submit README.md": "stream",
    "serve": "serve",
    "mcp": "mcp",
}


def test_a_command_whose_extra_is_missing_says_which_in_one_line():
    code = f"""
import safepassage.streams.cli
for command in {list(COMMANDS)!r}:
    sys.argv = ["safepassage", *command.split()]
    try:
        safepassage.streams.cli.main()
    except SystemExit as end:
        assert end.code == 1, command
"""
    ended = fresh(code)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stderr.strip().splitlines()
    assert [line.split("this needs ")[0] for line in lines] == ["safepassage: "] * len(COMMANDS)
    named = [line.partition(": pip install ")[2] for line in lines]
    assert named == [f"'safepassage[{extra}]'" for extra in COMMANDS.values()]


def test_what_every_extra_brings_is_known_by_it():
    """So that a new dependency of an extra is named as well."""
    modules = packages_distributions()
    for extra, requirements in PROJECT["optional-dependencies"].items():
        if extra in {*ASIDE, "all"}:
            continue
        for name in {canonicalize_name(Requirement(text).name) for text in requirements}:
            brought = {
                module
                for module, names in modules.items()
                if name in {canonicalize_name(n) for n in names}
            }
            assert name == "safepassage" or brought & set(MODULES[extra]), (extra, name)
            for module in brought & set(MODULES[extra]):
                said = str(missing_extra(ModuleNotFoundError(name=module), extra))
                assert said.endswith(f"pip install 'safepassage[{extra}]'")
    assert missing_extra(ModuleNotFoundError(name="json")) is None
    assert str(missing_extra(ModuleNotFoundError(name="sklearn.svm"))).endswith("[training]'")
