"""The wheel and the sdist, and a user's first call beside names that once were ours.

`pip install safepassage` used to put `agents`, `schemas`, `streams`, … into site-packages: another
distribution overwrote them, and modules of the user's hid them.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from . import built

distributions = built.script("tools/distributions.py")
OPENAI_AGENTS = "openai-agents==0.24.0"
"""Its import name is `agents`, which was one of ours."""
THEIRS = "WHOSE = 'the user'\n"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("distributions")
    return built.sdist_and_wheel(built.copy_of_sources(folder / "sources"), folder / "dist")


@pytest.fixture(scope="module")
def python(packed: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with the wheel and, as openai-agents has, a package `agents`."""
    environment = tmp_path_factory.mktemp("environment")
    python = built.environment_of_a_user(environment)
    built.install(python, packed[1])
    other = built.site_packages(environment) / "agents"
    other.mkdir(exist_ok=False)
    (other / "__init__.py").write_text("WHOSE = 'another distribution'\n")
    return python


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder whose modules have the names of our rooms."""
    for room in built.ROOMS:
        (tmp_path / f"{room}.py").write_text(THEIRS)
    return tmp_path


def test_the_wheel_puts_one_name_into_site_packages(packed: tuple[Path, Path]):
    assert distributions.top_level_names(packed[1]) == {"safepassage"}
    assert distributions.faults(packed[1]) == []


def test_the_wheel_holds_every_file_of_the_rooms(packed: tuple[Path, Path]):
    """Models, templates, static files, data and types as well as modules."""
    inside = set(distributions.names_in(packed[1]))
    for room in built.ROOMS:
        files = (path for path in (built.ROOT / room).rglob("*") if path.is_file())
        ours = {
            f"safepassage/{path.relative_to(built.ROOT).as_posix()}"
            for path in files
            if path.suffix != ".pyc"
        }
        assert sorted(ours - inside) == []


def test_the_sdist_holds_files_in_place_of_the_links(packed: tuple[Path, Path]):
    assert distributions.faults(packed[0]) == []


def test_a_wheel_of_two_names_is_found_out(tmp_path: Path):
    """What the release workflow would stop."""
    wheel = tmp_path / "safepassage-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("safepassage/py.typed", "")
        archive.writestr("schemas/__init__.py", "")
        archive.writestr("safepassage-1.dist-info/METADATA", "")
    found = distributions.faults(wheel)
    assert f"{wheel.name}: schemas would be a top-level name" in found
    assert any("reader.safetensors is missing" in line for line in found)
    assert distributions.main([str(wheel)]) == 1
    assert distributions.nameless(wheel)
    with zipfile.ZipFile(tmp_path / "safepassage-2-py3-none-any.whl", "w") as archive:
        said = "Name: safepassage\nProject-URL: Source, https://example.org/safepassage\n\nText"
        archive.writestr("safepassage-2.dist-info/METADATA", said)
    assert distributions.nameless(tmp_path / "safepassage-2-py3-none-any.whl") == []
    assert distributions.main([]) == 1, "a release that built nothing"


def test_the_readme_s_example_beside_a_user_s_modules_of_the_same_names(python: Path, folder: Path):
    first_example = built.script("benchmarks/five_lines.py").first_example
    example = first_example((built.ROOT / "README.md").read_text(encoding="utf-8"))
    (folder / "first.py").write_text(
        f"import {', '.join(built.ROOMS)}\n"
        + example
        + "import safepassage\n"
        + f"print({', '.join(f'{room}.WHOSE' for room in built.ROOMS)}, sep='|')\n"
        + "print(safepassage.__file__)\n",
        encoding="utf-8",
    )
    ended = built.run([str(python), "first.py"], folder)
    *verdict, whose, where = ended.stdout.splitlines()
    assert "accepted" in verdict[0]
    assert whose.split("|") == ["the user"] * len(built.ROOMS)
    assert Path(where).is_relative_to(python.parents[1]), "not this checkout's"


def test_check_beside_a_user_s_modules_of_the_same_names(python: Path, folder: Path):
    """By the console script and with the user's folder first on the path."""
    text = "The Tenant shall pay a monthly rent of £1,250 on the first day of each month."
    row = {"id": "e", "doc_id": "d", "entity_type": "Rent", "value": "£1,250"}
    (folder / "d.jsonl").write_text(json.dumps({"id": "d", "text": text}))
    (folder / "e.jsonl").write_text(json.dumps({**row, "context": "a monthly rent of £1,250"}))
    command = [str(python.with_name("safepassage")), "check", "-d", "d.jsonl", "-e", "e.jsonl"]
    ended = built.run(command, folder, {"PYTHONPATH": str(folder)})
    assert json.loads(ended.stdout)["decision"] == "accepted"


def test_another_distribution_s_agents_is_left_alone(python: Path, tmp_path: Path):
    code = (
        "import agents, safepassage.agents.aligner as ours; from safepassage import Document\n"
        "print(agents.WHOSE, ours.__name__)"
    )
    ended = built.run([str(python), "-c", code], tmp_path)
    assert ended.stdout.split() == ["another", "distribution", "safepassage.agents.aligner"]


def test_beside_openai_agents(packed: tuple[Path, Path], tmp_path: Path):
    """The distribution itself, where the package index can be reached."""
    python = built.environment_of_a_user(tmp_path / "environment")
    built.install(python, packed[1])
    before = set(built.site_packages(tmp_path / "environment").rglob("*.py"))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    try:
        built.run([*pip, "--retries", "0", "--timeout", "10", OPENAI_AGENTS], tmp_path)
    except AssertionError as error:
        pytest.skip(f"the package index has no {OPENAI_AGENTS} for us: {str(error)[-200:]}")
    assert before <= set(built.site_packages(tmp_path / "environment").rglob("*.py"))
    code = (
        "import agents, safepassage.agents.aligner as ours; from safepassage import Document\n"
        "print(agents.Agent.__name__, ours.__name__)"
    )
    ended = built.run([str(python), "-c", code], tmp_path)
    assert ended.stdout.split() == ["Agent", "safepassage.agents.aligner"]
