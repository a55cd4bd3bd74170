"""``python -m tests.golden``: writes the golden answers of this version of the rules."""

from __future__ import annotations

import argparse
import sys

from . import corpus
from .record import HERE, SETS, Case, Versions, answered, cases, changed, read, write

BUILDERS = {"comparisons": corpus.comparisons, "pairs": corpus.pairs, "graphs": corpus.graphs}


def main() -> int:
    """Answer every case, say what changed, and write unless the version forbids it."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--corpus", action="store_true", help="build the cases anew as well")
    anew = parser.parse_args().corpus
    now, moved, after = Versions.current(), [], {}
    borderline = 0
    for name in SETS:
        before = read(name) if (HERE / f"{name}.jsonl").exists() else []
        after[name] = answered(name, _rebuilt(name, before) if anew else before)
        moved += changed(before, after[name])
        steady = [case for case in after[name] if not case.said.get("borderline")]
        borderline += len(after[name]) - len(steady)
        after[name] = steady
    sys.stdout.write("".join(f"{line}\n" for line in moved))
    if moved and not now.changes_since(Versions.recorded()):
        sys.exit(f"{len(moved)} answers changed: raise RULES_VERSION first")
    write(HERE, now, after)
    sys.stdout.write(
        f"{sum(map(len, after.values()))} cases written, {len(moved)} changed, "
        f"{borderline} left out as too near their threshold\n"
    )
    return 0


def _rebuilt(name: str, before: list[Case]) -> list[Case]:
    """The corpus of today, with the answers that are known."""
    known = {case.id: case for case in before}
    return [known.get(case.id, case) for case in cases(BUILDERS[name]())]


if __name__ == "__main__":
    sys.exit(main())
