"""The model card: what a scorer rests on, what it was measured on, and what it is not for."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from safepassage.scoring_worker.encoders.reader_model import READER_FILE
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.threshold_fitting import Target

CARD_NAME = "MODEL_CARD.md"


def write_card(
    manifest: ScorerManifest,
    folder: Path,
    target: Target | None,
    counts: Mapping[str, int],
    remarks: str = "",
) -> Path:
    """Write the card beside the weights and return its path."""
    path = folder / CARD_NAME
    sections = [
        f"# {manifest.name}",
        _model(manifest),
        _list("Trained on", manifest.trained_on or ("no named set",)),
        _table("Labelled pairs", counts),
        _metrics(manifest.metrics),
        _thresholds(manifest, target),
        remarks.strip(),
    ]
    path.write_text("\n\n".join(filter(None, sections)) + "\n", "utf-8")
    return path


def _model(manifest: ScorerManifest) -> str:
    if manifest.kind == "encoder":
        return (
            "Judges whether a passage supports an extracted value as an answer to its entity type: "
            'a cross-encoder reads the passage with "{Type}: {Value}".\n\n'
            f"Inputs of up to {manifest.max_length} tokens, longer passages in windows."
        )
    words = f"of the scorer {manifest.base!r}" if manifest.base else "in this folder"
    reader = f"`{READER_FILE}`, words and vocabulary {words}"
    return (
        "Judges whether a passage supports an extracted value as an answer to its entity type: "
        f"comparators look for the value, a reader ({reader}) reads whether it is there as "
        "this, and a stack weighs both.\n\n"
        f"Inputs of up to {manifest.max_length} tokens, longer passages in windows."
    )


def _list(title: str, entries: tuple[str, ...]) -> str:
    return "\n".join([f"## {title}\n", *(f"- {entry}" for entry in entries)])


def _table(title: str, rows: Mapping[str, JsonValue] | Mapping[str, int]) -> str:
    lines = [f"| {name} | {value} |" for name, value in rows.items()]
    return "\n".join([f"## {title}\n", "| | |", "|---|---|", *lines]) if lines else ""


def _metrics(metrics: Mapping[str, JsonValue]) -> str:
    """Every block of figures; the positive class is "unsupported"."""
    tables = [
        _figures(f"Measured: {name}", block)
        for name, block in metrics.items()
        if isinstance(block, dict) and name != "thresholds"
    ]
    return "\n\n".join(tables)


def _figures(title: str, block: Mapping[str, JsonValue]) -> str:
    """One figure a line, or one row of figures where all entries have the same."""
    rows = [(name, row) for name, row in block.items() if isinstance(row, dict)]
    if len(rows) < len(block) or not rows:
        return _table(title, block)
    columns = list(rows[0][1])
    lines = [
        f"| {' | '.join(['', *columns])} |",
        f"|---|{'---|' * len(columns)}",
        *(
            f"| {' | '.join([name, *(str(row.get(column)) for column in columns)])} |"
            for name, row in rows
        ),
    ]
    return "\n".join([f"## {title}\n", *lines])


def _thresholds(manifest: ScorerManifest, target: Target | None) -> str:
    fitted = f", fitted to {target}" if target else ""
    lines = [f"## Thresholds\n\nDefault {manifest.thresholds.default:.4f}{fitted}."]
    for name, threshold in sorted(manifest.thresholds.by_type.items()):
        lines.append(f"- {name}: {threshold.value:.4f} ({threshold.n} labels, {threshold.target})")
    return "\n".join(lines)
