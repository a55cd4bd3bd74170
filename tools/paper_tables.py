"""The page of the four papers' components: what each has for a command and a figure here."""

from __future__ import annotations

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
    (source, name), *_ = said.items()
    if source == "groundedness":
        runs = ("groundedness.json", "groundedness-minilm.json")
        rows = [one for run in runs for one in read(run)["results"] if one["detector"] == name]
        found = {one["dataset"]: one["f1"] for one in rows}
        return "macro F1 " + ", ".join(f"{share(f1)} {data}" for data, f1 in found.items())
    if source == "table1":
        results = read("experiments/table1.json")["results"]
        by_scorer = {one["scorer"]: one for one in results}
        return "F1 " + ", ".join(f"{share(by_scorer[each]['f1'])} `{each}`" for each in name)
    if source == "substitutions":
        results = [one for one in read("substitutions.json")["results"] if one["detector"] == name]
        shown = (f"{share(one['auroc'])} {one['dataset'].replace('_', ', ')}" for one in results)
        return "AUROC " + "; ".join(shown)
    if source == "triples":
        results = read("triples.json")["results"]
        best = max(results, key=lambda one: one["auroc"])
        return f"its second step: AUROC {interval(best, 'auroc')}, `{best['detector']}`"
    return _encoder(*name)


def _encoder(silver: bool, labelled: bool) -> str:
    """A trained row of Table 1: figure 4 of a cross-encoder at none or at the most gold labels."""
    points = read("experiments/figure4-encoder.json")["results"]
    most = max(one["gold"] for one in points) if labelled else 0
    one = next(one for one in points if (one["silver"], one["gold"]) == (silver, most))
    trained = f", {most} gold labels" if labelled else ""
    return f"F1 {interval(one, 'f1')}, AUROC {share(one['auroc'])} (22M encoder{trained})"
