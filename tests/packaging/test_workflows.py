"""The workflows, the hooks and the tags of releases, as they are written: no runner is here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from . import built

release = built.script("tools/release_folder.py")
WORKFLOWS = sorted((built.ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((built.ROOT / "pyproject.toml").read_text())["project"]


def workflow(name: str) -> dict[str, Any]:
    return yaml.safe_load((built.ROOT / ".github" / "workflows" / f"{name}.yml").read_text())


def steps(name: str, job: str) -> list[dict[str, Any]]:
    return workflow(name)["jobs"][job]["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_and_names_versions(path: Path):
    """What more a job may do stands at the job, and a time limit too."""
    written = yaml.safe_load(path.read_text())
    assert written["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in written["jobs"].values())
    used = [s["uses"] for job in written["jobs"].values() for s in job["steps"] if "uses" in s]
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@(v\d+|release/v\d+|[0-9a-f]{40})", u) for u in used)


def test_ci_runs_what_a_desk_runs_on_every_version_of_python():
    versions = workflow("ci")["jobs"]["check-and-test"]["strategy"]["matrix"]["python"]
    prefix = "Programming Language :: Python :: 3."
    classified = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if c.startswith(prefix)]
    assert versions == classified
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert ".ci/run" in [step.get("run") for step in steps("ci", "check-and-test")]


def test_a_release_checks_and_attests_before_anything_is_kept():
    done = [step.get("run") or step["uses"].partition("@")[0] for step in steps("release", "build")]
    order = [
        "python tools/distributions.py dist/*",
        "actions/attest-build-provenance",
        "actions/upload-artifact",
    ]
    assert [step for step in done if step in order] == order


def test_only_the_publishing_job_publishes_and_it_builds_nothing():
    """Trusted publishing: its job has a token of the run, and runs no code of this repository."""
    publish = workflow("release")["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"]
    assert [step for step in publish["steps"] if "run" in step] == []


def test_the_hooks_are_those_of_make_check():
    (local,) = yaml.safe_load((built.ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert local["repo"] == "local"
    assert [hook["id"] for hook in local["hooks"]] == [
        "ruff",
        "ruff-format",
        "mypy",
        "lint-imports",
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of which 1.2.3 is ready to be released."""
    (tmp_path / "weights").mkdir()
    for folder, version in ((tmp_path, "1.2.3"), (tmp_path / "weights", "0.2.0")):
        (folder / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2025-11-30)\n\nText.\n")
    return tmp_path


def test_a_tag_releases_the_folder_of_its_name(root: Path):
    assert release.folder_of("v1.2.3", root) == "."
    assert release.folder_of("large-v0.2.0", root) == "weights"


@pytest.mark.parametrize("tag", ["v1.2.4", "large-v1.2.3", "1.2.3", "v1.2.3; rm -r /", "v1.2"])
def test_a_tag_that_is_not_the_version_releases_nothing(root: Path, tag: str):
    with pytest.raises(ValueError, match=r"no tag of a release|pyproject\.toml says"):
        release.folder_of(tag, root)


def test_a_version_without_its_section_in_the_changelog_is_not_released(root: Path):
    (root / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    with pytest.raises(ValueError, match="has no section"):
        release.folder_of("v1.2.3", root)
    assert release.main(["v1.2.4"]) == 1
