"""Asks for known vulnerabilities of the pinned packages: `make audit`.

Exits 1 where a pinned version has one. Where the advisories cannot be reached it says so and
exits 0: a build without a network must not look vulnerable, and must not look audited either.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WITHOUT_HASHES, WITH_HASHES = (
    ("constraints.txt",),
    ("requirements-ocr.lock", "requirements-dev.lock"),
)
"""pip-audit takes files of either kind, and not of both at once."""


def audited() -> list[dict[str, object]] | None:
    """What pip-audit says of every pinned package; None where it could not ask."""
    found = [_audited(locks) for locks in (WITHOUT_HASHES, WITH_HASHES)]
    return None if None in found else [package for part in found for package in part or ()]


def _audited(files: Sequence[str]) -> list[dict[str, object]] | None:
    locks = [word for lock in files for word in ("--requirement", str(ROOT / lock))]
    command = [sys.executable, "-m", "pip_audit", *locks, "--no-deps", "--disable-pip"]
    ended = subprocess.run(  # noqa: S603 - our own arguments
        [*command, "--format", "json", "--progress-spinner", "off"],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        packages: list[dict[str, object]] = json.loads(ended.stdout)["dependencies"]
    except (ValueError, KeyError):
        sys.stderr.write(ended.stderr[-2000:])
        return None
    return packages


def main() -> int:
    """Print what was found; the exit status."""
    packages = audited()
    if packages is None:
        print("audit: the advisories could not be asked for; nothing is known")  # noqa: T201
        return 0
    vulnerable = [package for package in packages if package.get("vulns")]
    unknown = sum("skip_reason" in package for package in packages)
    for package in vulnerable:
        found = ", ".join(str(vulnerability["id"]) for vulnerability in package["vulns"])  # type: ignore[attr-defined]
        print(f"audit: {package['name']} {package['version']}: {found}")  # noqa: T201
    counts = f"{len(packages)} packages, {len(vulnerable)} vulnerable, {unknown} not known there"
    print(f"audit: {counts}")  # noqa: T201
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main())
