"""The page of the four papers' components: what each has for a command and a figure here."""

from __future__ import annotations

from typing import Any

from tools.tables import MEASURED, read, share, table

NOT_YET = "the command runs; not measured"


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
        results = [one for one in read("groundedness.json")["results"] if one["detector"] == name]
        return "macro F1 " + ", ".join(f"{share(one['f1'])} {one['dataset']}" for one in results)
    if source == "table1":
        results = read("experiments/table1.json")["results"]
        found = {one["scorer"]: one for one in results}
        return "F1 " + ", ".join(f"{share(found[each]['f1'])} `{each}`" for each in name)
    path = MEASURED / "experiments" / "table1-trained.json"
    trained = read("experiments/table1-trained.json") if path.exists() else {}
    if name not in trained:
        return NOT_YET
    one = trained[name]
    return f"F1 {share(one['f1'])}, AUROC {share(one['auroc'])} (22M encoder, reduced size)"
