"""Scorers whose weights ship in a distribution of their own."""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from safepassage.scoring_worker import ModelError, load_scorer
from safepassage.scoring_worker.scorers import folders, installed_models
from safepassage.scoring_worker.scorers.installed_models import GROUP, installed_model
from tests.scoring_worker import tiny

WEIGHTS = Path(__file__).resolve().parents[3] / "weights"


@pytest.fixture
def site_packages(tmp_path, monkeypatch):
    """A folder on the path in which the real package `safepassage_large` holds a tiny model."""
    package = tmp_path / "site-packages" / "safepassage_large"
    package.mkdir(parents=True)
    shutil.copyfile(WEIGHTS / "safepassage_large" / "__init__.py", package / "__init__.py")
    tiny.reader_scorer(package / "model")
    about = package.with_name("safepassage_large-0.1.0.dist-info")
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: safepassage-large\nVersion: 0.1.0\n"
    )
    (about / "entry_points.txt").write_text(f"[{GROUP}]\nlarge = safepassage_large:folder\n")
    monkeypatch.delitem(sys.modules, "safepassage_large", raising=False)
    monkeypatch.syspath_prepend(package.parent)
    yield package.parent
    sys.modules.pop("safepassage_large", None)


def named(monkeypatch, *values: str) -> None:
    """As if distributions named ``values`` under the name "large"."""
    points = [EntryPoint("large", value, GROUP) for value in values]
    monkeypatch.setattr(installed_models, "entry_points", lambda **_: points)


def test_an_installed_distribution_s_model_is_the_scorer(site_packages):
    assert installed_model("large") == site_packages / "safepassage_large" / "model"
    (answer,) = load_scorer("large", device="cpu").assess([tiny.pair()])
    assert answer.failure is None
    assert 0 < answer.score < 1


def test_the_cascade_takes_both_from_where_they_lie(site_packages, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "DEFAULT_MODEL", tiny.reader_scorer(tmp_path / "default"))
    cascade = load_scorer("cascade-large", device="cpu")
    (unsure,) = cascade.assess([tiny.pair()])
    assert unsure.scorer == "cascade-large"
    assert len(unsure.trail) == 2


def test_an_altered_file_of_it_stops_the_load(site_packages):
    (site_packages / "safepassage_large" / "model" / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=r"config\.json was changed"):
        load_scorer("large")


@pytest.mark.parametrize("name", ["large", "cascade-large"])
def test_without_the_distribution_it_says_what_to_install(name, monkeypatch):
    named(monkeypatch)
    with pytest.raises(ModelError, match=r"pip install 'safepassage\[large\]'"):
        load_scorer(name)


def test_a_distribution_without_its_weights_is_refused(site_packages):
    """As one built from a checkout that has none."""
    shutil.rmtree(site_packages / "safepassage_large" / "model")
    with pytest.raises(ModelError, match=r"model is missing: install 'safepassage\[large\]' again"):
        installed_model("large")


@pytest.mark.parametrize("value", ["nowhere_at_all:folder", "json:nothing", "json:loads"])
def test_a_broken_distribution_is_refused(value, monkeypatch):
    named(monkeypatch, value)
    with pytest.raises(ModelError, match="the weights of 'large' is broken"):
        installed_model("large")


def test_two_distributions_with_one_name_are_refused(monkeypatch):
    """Which of them would decide verdicts is no matter of the order on the path."""
    named(monkeypatch, "one:folder", "other:folder")
    with pytest.raises(ModelError, match="one:folder, other:folder; remove one"):
        installed_model("large")
