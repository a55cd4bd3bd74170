"""From a setting to a schema."""

from __future__ import annotations

import decimal
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from safepassage.agents.extraction.answers import GenericSchema, UserSchema
from safepassage.agents.extraction.schema_loading import SchemaError, load_schema, user_schema
from safepassage.schemas import Entity

MODULE = """
from pydantic import BaseModel
from safepassage import Entity

class Rent(Entity):
    amount: int

class Lease(BaseModel):
    rents: list[Rent]

class Empty(BaseModel):
    number: int

class Bare(Entity):
    pass

class Bares(BaseModel):
    bares: list[Bare]

not_a_class = 1
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in the working directory, where an installed command does not look."""
    (tmp_path / "my_schemas.py").write_text(MODULE)
    (tmp_path / "broken_schemas.py").write_text("1 / 0\n")
    (tmp_path / "odd_schemas.py").write_text(
        "from pydantic import BaseModel\nclass Odd(BaseModel):\n    call: type(lambda: 0)\n"
    )
    (tmp_path / "garbled_schemas.py").write_text("class\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    yield
    sys.modules.pop("my_schemas", None)


def test_without_a_class_the_schema_is_generic():
    schema = load_schema(None, [" Rent ", "Judge"])
    assert isinstance(schema, GenericSchema)
    assert schema.entity_types == ("Rent", "Judge")
    assert load_schema("", []).entity_types == ()


@pytest.mark.parametrize(
    ("types", "message"),
    [(["Rent", "Rent "], "given twice"), ([""], "is empty"), (["x" * 201], "longer than 200")],
)
def test_entity_types_that_are_none_are_named(types, message):
    with pytest.raises(SchemaError, match=message):
        load_schema(None, types)


def test_a_model_is_found_in_the_working_directory(module):
    schema = load_schema("my_schemas:Lease", [])
    assert isinstance(schema, UserSchema)
    assert (schema.name, schema.strict) == ("Lease", True)


INVOICE = f"""
from __future__ import annotations
from {Entity.__module__} import Entity

class Invoice(Entity):
    total: Amount

Amount = int
"""
LOAD = f"""
import sys
from {load_schema.__module__} import SchemaError, load_schema

try:
    print(sorted(load_schema(sys.argv[1]).json_schema["$defs"]))
except SchemaError as error:
    print(error)
"""


def loaded(spec: str, folder: Path, *path: Path) -> str:
    """What an installed command says of a schema; it does not look into the working directory."""
    on_path = os.pathsep.join(map(str, (Path(__file__).parents[3], *path)))
    command = [sys.executable, "-P", "-c", LOAD, spec]
    environment = os.environ | {"PYTHONPATH": on_path}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["schemas", "email", "my_schemas"])
def test_the_users_own_file_wins_over_modules_of_the_same_name(tmp_path, name):
    (tmp_path / f"{name}.py").write_text(INVOICE)
    assert loaded(f"{name}:Invoice", tmp_path) == "['Invoice']"


def test_the_users_own_file_on_the_path_wins_over_the_folder_of_a_checkout(tmp_path):
    (tmp_path / "schemas.py").write_text(INVOICE)
    assert loaded("schemas:Invoice", Path(__file__).parents[3], tmp_path) == "['Invoice']"


def test_the_users_own_package_may_import_from_itself(tmp_path):
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "__init__.py").write_text("from .invoices import Invoice\n")
    (tmp_path / "schemas" / "invoices.py").write_text(INVOICE)
    assert loaded("schemas:Invoice", tmp_path) == "['Invoice']"


def test_a_class_that_is_missing_is_said_with_the_file_that_was_found(tmp_path):
    file = tmp_path / "schemas.py"
    file.write_text(INVOICE)
    said = loaded("schemas:Receipt", tmp_path)
    assert said == f"the module schemas has no class Receipt; found {file}"


def test_an_entity_alone_is_asked_for_as_a_list(module):
    schema = load_schema("my_schemas:Rent", [])
    answer = schema.read({"entities": [{"context": "c", "amount": 900}]})
    assert [finding.value for finding in answer.findings] == [900]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("my_schemas", "is not of the form module:Class"),
        ("my_schemas:", "is not of the form module:Class"),
        (":Lease", "is not of the form module:Class"),
        ("my_schemas:Nothing", "has no class Nothing"),
        ("my_schemas:not_a_class", "is not a pydantic model"),
        ("my_schemas:Empty", "holds no subclass of schemas.Entity"),
        ("my_schemas:Bares", "Bare has no field besides context"),
        ("my_schemas:Bare", "Bare has no field besides context"),
        ("odd_schemas:Odd", "cannot be imported: PydanticSchemaGenerationError"),
        ("no_such_module:Lease", "cannot be imported: ModuleNotFoundError"),
        ("broken_schemas:Lease", "cannot be imported: ZeroDivisionError"),
        ("garbled_schemas:Lease", "cannot be imported: SyntaxError"),
        ("safepassage.schemas:Document", "holds no subclass"),
        ("safepassage.schemas:Entity", "has no field besides context"),
        ("os:path", "is not a pydantic model"),
        ("..:x", "cannot be imported"),
    ],
)
def test_what_is_no_schema_is_an_error_of_one_line(module, spec, message):
    with pytest.raises(SchemaError, match=message) as caught:
        load_schema(spec, [])
    assert len(str(caught.value).splitlines()) == 1


def test_a_class_and_types_together_are_refused(module):
    with pytest.raises(SchemaError, match="not both"):
        load_schema("my_schemas:Lease", ["Rent"])


class Rent(Entity):
    default: str = "x"
    amount: decimal.Decimal


class Open(BaseModel):
    by_name: dict[str, Rent]


class Anything(BaseModel):
    rents: list[Rent]
    anything: Any = None


class Callback:
    """No pydantic type."""


class Tree(BaseModel):
    rent: Rent | None
    children: list[Tree]


def test_a_strict_schema_requires_every_field_and_has_no_default():
    schema = user_schema(create_lease())
    rent = schema.json_schema["$defs"]["Rent"]
    assert set(rent["required"]) == {"context", "default", "amount"}
    assert rent["additionalProperties"] is False
    assert "default" in rent["properties"]
    assert "default" not in rent["properties"]["default"]


def create_lease() -> type[BaseModel]:
    """A model with one kind of entity."""

    class Lease(BaseModel):
        rents: list[Rent]

    return Lease


@pytest.mark.parametrize("model", [Open, Anything])
def test_a_schema_that_no_endpoint_can_enforce_is_sent_unstrict(model):
    assert not user_schema(model).strict


def test_a_model_that_contains_itself_is_read():
    schema = user_schema(Tree)
    leaf = {"rent": {"context": "c", "amount": 1, "default": ""}, "children": []}
    answer = schema.read({"rent": None, "children": [leaf, leaf]})
    assert len(answer.findings) == 2


def test_a_field_without_a_json_schema_is_named():
    class Lease(BaseModel, arbitrary_types_allowed=True):
        rents: list[Rent]
        callback: Callback

    with pytest.raises(SchemaError, match="has no JSON schema"):
        user_schema(Lease)
