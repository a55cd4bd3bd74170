"""The distribution of the weights of `large`, built around a tiny model."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path

import pytest

from safepassage.scoring_worker.manifest import ScorerManifest
from tests.scoring_worker import tiny

from . import built

distributions = built.script("tools/distributions.py")
WEIGHTS = built.ROOT / "weights"
MODEL = WEIGHTS / "safepassage_large" / "model"
MOST_BYTES = 100_000_000
"""Of one file: git hosts and package indexes refuse larger ones."""


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("weights")
    names = sorted(path.name for path in WEIGHTS.iterdir() if path.name not in ("build", "dist"))
    names = [name for name in names if not name.endswith(".egg-info") and name != MODEL.parent.name]
    sources = built.copy_of_sources(folder / "sources", WEIGHTS, names)
    package = built.copy_of_sources(
        sources / MODEL.parent.name, MODEL.parent, ("__init__.py", "py.typed")
    )
    tiny.reader_scorer(package / "model")
    made = built.sdist_and_wheel(sources, folder / "dist")
    unpacked = next((folder / "dist" / "unpacked").iterdir())
    assert not any((tree / "build").exists() for tree in (sources, unpacked)), "a copy is left"
    return made


def test_the_wheel_holds_the_model_and_one_name(packed: tuple[Path, Path]):
    assert distributions.top_level_names(packed[1]) == {"safepassage_large"}
    assert [line for path in packed for line in distributions.faults(path)] == []


def test_a_wheel_without_its_model_is_found_out(packed: tuple[Path, Path], tmp_path: Path):
    """As the release of a checkout without the weights would build."""
    bare = tmp_path / packed[1].name
    with zipfile.ZipFile(packed[1]) as whole, zipfile.ZipFile(bare, "w") as archive:
        for name in whole.namelist():
            if "/model/" not in name:
                archive.writestr(name, whole.read(name))
    assert distributions.faults(bare) == [
        f"{bare.name}: safepassage_large/model/scorer.json is missing"
    ]


def test_what_is_installed_is_found(packed: tuple[Path, Path], tmp_path: Path):
    """By the entry point that the wheel carries."""
    python = built.environment_of_a_user(tmp_path / "environment")
    built.install(python, packed[1])
    code = (
        "from importlib.metadata import entry_points\n"
        "(large,) = entry_points(group='safepassage.models', name='large')\n"
        "print(large.load()())"
    )
    folder = Path(built.run([str(python), "-c", code], tmp_path).stdout.strip())
    assert folder.is_relative_to(tmp_path)
    assert ScorerManifest.load(folder).kind == "reader"


def test_the_extra_asks_for_the_version_of_this_repository():
    version = tomllib.loads((WEIGHTS / "pyproject.toml").read_text())["project"]["version"]
    extras = tomllib.loads((built.ROOT / "pyproject.toml").read_text())["project"]
    assert extras["optional-dependencies"]["large"] == [f"safepassage-large=={version}"]


def test_the_weights_are_whole_and_no_file_is_too_large():
    if not MODEL.is_dir():
        pytest.skip("the weights of `large` are not in this checkout")
    assert ScorerManifest.load(MODEL).name == "large"
    files = {path.name: path.stat().st_size for path in MODEL.iterdir()}
    assert {name: size for name, size in files.items() if size >= MOST_BYTES} == {}
