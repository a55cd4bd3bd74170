"""The page of the four papers' components: what each has for a command and a figure here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.tables import interval, read, share, table


def components() -> str:
    """Every component, in the papers' order, with its figure here and the paper's."""
    rows = read("papers.json")
    return table(
        ["paper", "component", "command", "figure here", "the paper's"],
        [
            [row["paper"], row["component"], f"`{row['command']}`", _here(row["here"]),
             row["published"]]
            for row in rows
        ],
    )  # fmt: skip


def _here(said: str | dict[str, Any]) -> str:
    """The figure itself, or what the measured file of a run has."""
    if isinstance(said, str):
        return said
    [(source, name)] = said.items()
    return _FIGURES[source](name)


def _groundedness(name: str) -> str:
    runs = ("groundedness.json", "groundedness-minilm.json")
    rows = [one for run in runs for one in read(run)["results"] if one["detector"] == name]
    found = {one["dataset"]: one["f1"] for one in rows}
    return "macro F1 " + ", ".join(f"{share(f1)} {data}" for data, f1 in found.items())


def _table1(names: list[str]) -> str:
    found = {one["scorer"]: one for one in read("experiments/table1.json")["results"]}
    return "F1 " + ", ".join(f"{share(found[name]['f1'])} `{name}`" for name in names)


def _substitutions(name: str) -> str:
    results = [one for one in read("substitutions.json")["results"] if one["detector"] == name]
    shown = (f"{share(one['auroc'])} {one['dataset'].replace('_', ', ')}" for one in results)
    return "AUROC " + "; ".join(shown)


def _triples(_: bool) -> str:
    best = max(read("triples.json")["results"], key=lambda one: float(one["auroc"]))
    return f"AUROC {interval(best, 'auroc')}: `{best['detector']}`, the best in detectors.md"


def _hallugraph(names: str | list[str]) -> str:
    found = {one["dataset"]: one for one in read("hallugraph.json")}
    if isinstance(names, str):
        one = found[names]
        plain = share(one["plain"]["auc"])
        return f"AUC {interval(one['whole'], 'auc', 'interval')} on RAGTruth (plain mean {plain})"
    return "AUC " + ", ".join(f"{share(found[name]['whole']['auc'])} {name}" for name in names)


def _encoder(point: list[bool]) -> str:
    """A trained row of Table 1: figure 4 of a cross-encoder at none or at the most gold labels."""
    silver, labelled = point
    points = read("experiments/figure4-encoder.json")["results"]
    most = max(one["gold"] for one in points) if labelled else 0
    one = next(one for one in points if (one["silver"], one["gold"]) == (silver, most))
    trained = f", {most} gold labels" if labelled else ""
    return f"F1 {interval(one, 'f1')}, AUROC {share(one['auroc'])} (22M encoder{trained})"


def _gains(_: bool) -> str:
    gains = read("experiments/figure4-encoder.json")["gains"]
    shown = (
        f"{one['by']} adds {interval(one, 'f1')} at {one['gold']} gold labels" for one in gains
    )
    return "; ".join(shown)


_FIGURES: dict[str, Callable[[Any], str]] = {
    "encoder": _encoder,
    "gains": _gains,
    "groundedness": _groundedness,
    "hallugraph": _hallugraph,
    "substitutions": _substitutions,
    "table1": _table1,
    "triples": _triples,
}
"""What reads the figures of each kind of run."""
