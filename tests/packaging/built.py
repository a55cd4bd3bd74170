"""Distributions as a release builds them: an sdist of the sources, and a wheel of that sdist."""

from __future__ import annotations

import importlib.util
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("schemas", "agents", "scoring_worker", "streams")
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", *ROOMS, "safepassage")
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info", "build", "dist")
_BUILD = "import sys; from setuptools import build_meta as b; getattr(b, sys.argv[1])(sys.argv[2])"


def script(path: str) -> ModuleType:
    """A script of this repository that no package holds, as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def copy_of_sources(into: Path, root: Path = ROOT, names: Sequence[str] = SOURCES) -> Path:
    """What a distribution is built from, its links as links, and nothing that a build left."""
    into.mkdir(parents=True)
    for name in names:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, into / name, symlinks=True, ignore=LEFT_BEHIND)
        else:
            shutil.copyfile(source, into / name)
    return into


def sdist_and_wheel(sources: Path, out: Path) -> tuple[Path, Path]:
    """Both, built with the setuptools that is installed: no network and no isolation."""
    out.mkdir(parents=True)
    _built(sources, "build_sdist", out)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(out / "unpacked", filter="data")
    (unpacked,) = (out / "unpacked").iterdir()
    _built(unpacked, "build_wheel", out)
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


def _built(sources: Path, hook: str, out: Path) -> None:
    run([sys.executable, "-c", _BUILD, hook, str(out)], sources)


def environment_of_a_user(folder: Path) -> Path:
    """The Python of a new environment that sees every package installed here but safepassage.

    The packages come by a line of a .pth file. Python does not read .pth files through one, so the
    finder of an editable install of this checkout stays outside; the weights, which are installed
    so as well, are named beside them.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    weights = str(ROOT / "weights")
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), weights}
    if site.ENABLE_USER_SITE:
        installed.add(site.getusersitepackages())
    (site_packages(folder) / "packages-of-the-tests.pth").write_text(
        "".join(f"{path}\n" for path in sorted(installed))
    )
    return python


def site_packages(environment: Path) -> Path:
    """Where packages of ``environment`` lie."""
    (found,) = (environment / "lib").glob("python*/site-packages")
    return found


def install(python: Path, wheel: Path) -> None:
    """``wheel`` alone into the environment of ``python``, with its console script."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    run([*pip, "--no-deps", "--no-index", str(wheel)], wheel.parent)


def run(
    command: list[str], folder: Path, added: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``command`` in ``folder`` without this checkout on its path; its output if it succeeds."""
    mine = ("PYTHON", "SAFEPASSAGE_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    ended = subprocess.run(
        command,
        cwd=folder,
        env=environment | dict(added or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-4000:]
    return ended
