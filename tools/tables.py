"""What the tables of the documentation have in common."""

import json
from typing import Any

from tools.blocks import ROOT

MEASURED = ROOT / "docs" / "measured"


def read(name: str) -> Any:
    return json.loads((MEASURED / name).read_text(encoding="utf-8"))


def share(value: float | None) -> str:
    """A proportion with three digits; a dash where it is not defined."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text


def interval(row: dict[str, Any], name: str, of: str | None = None) -> str:
    """A figure with its interval, which is under ``of``; by default under its name."""
    low, high = row[of or f"{name}_ci"]
    return f"{share(row[name])} [{share(low)}, {share(high)}]"


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table: the first column to the left, all others to the right."""
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
