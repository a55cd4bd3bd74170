"""The recipes of docs/how-to/recipes.md run as they stand; outputs of other extractors are read."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from pydantic import BaseModel, Field
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import safepassage.verifier
from safepassage import Extraction, extractions_of
from safepassage.schemas import Entity, Verdict

from .scorers import WordScorer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "recipes.md"
QUOTED = {"context": "a monthly rent of £1,250", "amount": "£1,250"}
INVENTED = {"context": "rent is nine pounds sterling a week", "amount": "£9"}


def blocks() -> dict[str, list[str]]:
    """The code of each section; that before the first is the section ""."""
    found: dict[str, list[str]] = {}
    for section in re.split(r"^## ", "## \n" + PAGE.read_text(), flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        found[title.strip()] = re.findall(r"```python\n(.*?)```", body, re.DOTALL)
    found[""] = found.pop("", []) or found.pop("Recipes", [])
    return found


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What stands before the first recipe, with a scorer that needs no weights."""
    monkeypatch.setattr(safepassage.verifier, "_load", lambda *_: WordScorer())
    module = ModuleType("recipes")
    monkeypatch.setitem(sys.modules, "recipes", module)
    names = vars(module)
    run(names, blocks()[""])
    yield names
    names["verifier"].close()


def run(names: dict[str, Any], code: list[str]) -> None:
    assert code
    for block in code:
        exec(compile(block, str(PAGE), "exec", dont_inherit=True), names)  # noqa: S102 - our own page


def seen(verdicts: tuple[Verdict, ...]) -> list[tuple[str, object, str, int]]:
    return [(v.entity_type, v.value, v.decision, v.attempt) for v in verdicts]


def test_every_section_has_a_test():
    assert set(blocks()) == {
        *("", "instructor", "pydantic-ai", "langchain", "Haystack", "LlamaIndex", "langextract")
    }


def test_instructor(world: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    """Its form: `create` gives an instance of the model."""
    asked: list[list[dict[str, str]]] = []

    def create(response_model: type[BaseModel], messages: list[dict[str, str]]) -> BaseModel:
        asked.append(messages)
        rent = INVENTED if len(messages) == 1 else QUOTED
        return response_model.model_validate({"rent": rent})

    client = SimpleNamespace(create=create)
    stand_in = SimpleNamespace(from_provider=lambda _: client)
    monkeypatch.setitem(sys.modules, "instructor", stand_in)
    first, again = blocks()["instructor"]
    run(world, [first])
    assert seen(world["result"].verdicts) == [("Rent", "£9", "quarantined", 1)]
    run(world, [again])
    assert seen(world["result"].verdicts) == [("Rent", "£1,250", "accepted", 2)]
    assert "The quote is not in the document." in asked[-1][-1]["content"]


def test_pydantic_ai(world: dict[str, Any]):
    def answer(_messages: object, info: AgentInfo) -> ModelResponse:
        (tool,) = info.output_tools
        return ModelResponse(parts=[ToolCallPart(tool.name, {"rent": QUOTED})])

    world["model"] = FunctionModel(answer)
    with asyncio.Runner() as runner:
        # Without one, `run_sync` makes a loop for the thread and leaves it open.
        asyncio.set_event_loop(runner.get_loop())
        run(world, blocks()["pydantic-ai"])
    assert seen(world["result"].verdicts) == [("Rent", "£1,250", "accepted", 1)]
    assert extractions_of(world["run"].output) == extractions_of(world["run"])


class ToolCalling(GenericFakeChatModel):
    """A chat model of langchain's that answers with the call of whatever tool it is given."""

    def bind_tools(self, tools: Any, **_: Any) -> ToolCalling:
        return self


@pytest.mark.parametrize("rent", [QUOTED, {"context": 1}])
def test_langchain(world: dict[str, Any], rent: dict[str, object]):
    call = {"name": "Lease", "args": {"rent": rent}, "id": "c1", "type": "tool_call"}
    message = AIMessage(content="", tool_calls=[call])
    world["llm"] = ToolCalling(messages=iter([message]))
    if rent == QUOTED:
        run(world, blocks()["langchain"])
        assert seen(world["result"].verdicts) == [("Rent", "£1,250", "accepted", 1)]
    else:
        with pytest.raises(ValueError, match="could not be read"):
            run(world, blocks()["langchain"])


def test_haystack(world: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    """Its form: a class is marked, and `run` gives a value for each output."""

    def component(marked: type) -> type:
        return marked

    component.output_types = lambda **_: lambda method: method  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "haystack", SimpleNamespace(component=component))
    run(world, blocks()["Haystack"])
    for rent, passed in ((QUOTED, True), (INVENTED, False)):
        answer = world["Lease"].model_validate({"rent": rent})
        given = world["SafePassage"]().run(world["text"], answer)
        assert (len(given["accepted"]), len(given["stopped"])) == (passed, not passed)
        assert bool(given["feedback"]) is not passed


def test_llamaindex(world: dict[str, Any]):
    """Its form: a structured LLM answers with the model's object in `raw`."""
    lease = world["Lease"].model_validate({"rent": QUOTED})
    structured = SimpleNamespace(complete=lambda _: SimpleNamespace(raw=lease))
    world["llm"] = SimpleNamespace(as_structured_llm=lambda _: structured)
    run(world, blocks()["LlamaIndex"])
    assert seen(world["result"].verdicts) == [("Rent", "£1,250", "accepted", 1)]


@dataclass
class Found:
    """The form of `langextract.data.Extraction`."""

    extraction_class: str
    extraction_text: str
    attributes: dict[str, Any] | None = None
    char_interval: object = None


@dataclass
class Annotated:
    """The form of `langextract.data.AnnotatedDocument`."""

    text: str | None = None
    extractions: list[Found] | None = field(default=None)


def real_langextract() -> tuple[Any, Any]:
    pytest.importorskip("langextract", reason="langextract is in the extra bench")
    from langextract import data

    return data.Extraction, data.AnnotatedDocument


@pytest.mark.parametrize("real", [False, True], ids=["form", "installed"])
def test_langextract(world: dict[str, Any], monkeypatch: pytest.MonkeyPatch, real: bool):
    found, annotated = real_langextract() if real else (Found, Annotated)
    rows = [
        found(extraction_class="monthly_rent", extraction_text="a monthly rent of £1,250"),
        found(
            extraction_class="rent",
            extraction_text="monthly rent of £1,250",
            attributes={"value": "£1,250"},
        ),
        found(extraction_class="guarantor", extraction_text="Ann Lee of Leith, guarantor"),
    ]
    document = annotated(text=world["text"], extractions=rows)
    stand_in = SimpleNamespace(extract=lambda *_, **__: document)
    monkeypatch.setitem(sys.modules, "langextract", stand_in)
    world["examples"] = []
    run(world, blocks()["langextract"])
    assert seen(world["result"].verdicts) == [
        ("Monthly Rent", "a monthly rent of £1,250", "accepted", 1),
        ("Rent", "£1,250", "accepted", 1),
        ("Guarantor", "Ann Lee of Leith, guarantor", "quarantined", 1),
    ]


# --- what is read -----------------------------------------------------------------------------


class Party(Entity):
    """A side of the lease."""

    name: str | None = None


class Parties(BaseModel):
    landlord: Party = Field(description="who lets")
    tenant: Party
    others: list[Party] = []


def test_the_schemas_words_travel_and_places_of_one_type_are_told_apart():
    said = {"name": "Ann", "context": "Ann"}
    found = extractions_of(Parties(landlord=said, tenant=said, others=[{"context": "x"}]))
    assert [(e.type, e.value, e.place) for e in found] == [
        ("Party", "Ann", "landlord"),
        ("Party", "Ann", "tenant"),
    ]
    landlord = found[0].field
    assert landlord is not None
    assert "who lets" in (landlord.description or "")
    assert (landlord.single, landlord.required) == (True, True)
    with safepassage.Verifier(WordScorer()) as verifier:
        verdicts = verifier.verify("Ann lets to Ann.", found).verdicts
    assert len({v.id for v in verdicts}) == 2


def test_empty_answers_hold_nothing_and_what_is_unknown_is_refused():
    assert extractions_of(Annotated(text="t")) == []
    assert extractions_of(Annotated(text="t", extractions=[])) == []
    for unknown in ({"rent": "£1"}, "text", None, [Extraction("Rent", "1", "q")]):
        with pytest.raises(TypeError, match="no extractions are known"):
            extractions_of(unknown)
    for failed in ({"parsed": None, "parsing_error": None}, {"parsed": 1, "parsing_error": "x"}):
        with pytest.raises(ValueError, match="could not be read"):
            extractions_of({"raw": "", **failed})


def test_the_recipes_name_what_can_be_installed_here():
    assert importlib.util.find_spec("pydantic_ai")
    assert importlib.util.find_spec("langchain_core")
