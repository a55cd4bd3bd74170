"""The golden files: what they hold, how they are read and written, and what differs from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safepassage.scoring_worker.comparison import rules_version
from safepassage.scoring_worker.scorers.folders import open_manifest

from .answers import Asks, Said, compared, graphed, scored

HERE = Path(__file__).parent
TOLERANCE = 0.002
"""By how much a score may differ. The reader runs in fp32 here. Its sums round otherwise with other
instructions of a CPU, by far less than this. In int8, as `default` ships, such a rounding can move
a value by one of 127 steps, and the next layers with it: scores of one machine with AVX-512 and
without differed by up to .2. Decisions, findings and places are compared exactly."""
_APPROXIMATE = ("score", "borderline")
COMMAND = "python -m tests.golden"
SETS: Mapping[str, Callable[[Sequence[Asks]], list[Said]]] = {
    "comparisons": compared,
    "pairs": scored,
    "graphs": graphed,
}
"""By the name of a file: what answers its cases."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What gave the answers. ``model`` is the revision of the default scorer's files."""

    rules: str
    model: str
    libraries: dict[str, str]

    @classmethod
    def current(cls) -> Versions:
        """Those of this environment."""
        libraries = dict(rules_version.library_versions())
        return cls(rules_version.RULES_VERSION, open_manifest("default")[1].revision, libraries)

    @classmethod
    def recorded(cls, folder: Path = HERE) -> Versions:
        """Those of the golden files."""
        return cls(**json.loads((folder / "versions.json").read_text("utf-8")))

    def changes_since(self, earlier: Versions) -> list[str]:
        """A phrase for each version that is another one than it was."""
        before, after = earlier.flat(), self.flat()
        names = sorted({*before, *after})
        return [
            f"{name} {before.get(name)} -> {after.get(name)}"
            for name in names
            if before.get(name) != after.get(name)
        ]

    def flat(self) -> dict[str, str]:
        """All versions by one name each."""
        return {"rules": self.rules, "model": self.model, **self.libraries}


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a golden file."""

    id: str
    asks: dict[str, Any]
    said: Said


def cases(asked: Iterable[tuple[str, dict[str, Any]]]) -> list[Case]:
    """Cases without answers, by id. An id is the group and a digest of what is asked."""
    found = {}
    for group, asks in asked:
        frozen = json.loads(_dumped(asks))
        digest = hashlib.sha256(_dumped(frozen).encode()).hexdigest()[:8]
        found[f"{group}/{digest}"] = Case(f"{group}/{digest}", frozen, {})
    return [found[name] for name in sorted(found)]


def read(name: str, folder: Path = HERE) -> list[Case]:
    """The cases of a golden file."""
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [Case(**json.loads(line)) for line in lines]


def answered(name: str, known: Sequence[Case]) -> list[Case]:
    """The same cases with today's answers. What is the same within `TOLERANCE` stays as it was."""
    said = SETS[name]([case.asks for case in known])
    return [
        case
        if same(case.said, answer) and "borderline" not in answer
        else Case(case.id, case.asks, answer)
        for case, answer in zip(known, said, strict=True)
    ]


def same(left: Said, right: Said) -> bool:
    """Whether two answers are one."""
    scores = left.get("score"), right.get("score")
    rest = (
        {key: value for key, value in said.items() if key not in _APPROXIMATE}
        for said in (left, right)
    )
    if None in scores:
        near = scores == (None, None)
    else:
        near = abs(scores[0] - scores[1]) <= TOLERANCE + 1e-9
    first, second = rest
    return near and first == second


def changed(before: Sequence[Case], after: Sequence[Case]) -> list[str]:
    """A line for each case of both whose answer is another one."""
    old = {case.id: case.said for case in before if case.said}
    return [
        f"{case.id}: {_dumped(old[case.id])} -> {_dumped(case.said)}"
        for case in after
        if case.id in old and not same(old[case.id], case.said)
    ]


def write(folder: Path, versions: Versions, sets: Mapping[str, Sequence[Case]]) -> None:
    """The golden files, one case a line."""
    text = json.dumps(asdict(versions), indent=1)
    (folder / "versions.json").write_text(text + "\n", "utf-8")
    for name, known in sets.items():
        lines = [_dumped({"id": case.id, "asks": case.asks, "said": case.said}) for case in known]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def _dumped(value: object) -> str:
    """JSON in one line; marks that nobody would see are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "".join(
        mark if mark.isprintable() else f"\\u{ord(mark):04x}" if ord(mark) < 0x10000 else mark
        for mark in text
    )
