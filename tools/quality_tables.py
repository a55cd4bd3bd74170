"""Tables of quality in the documentation, made from the measured files in ``docs/measured``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tools.tables import MEASURED, interval, read, share, table

README_ROWS = {
    "fields, sources left out": "fields of sources that the reader never saw",
    "denied values": "values that the passage denies",
    "supposed values": "values that the passage only supposes",
    "free claims: NLI": "free claims (NLI sets)",
    "free claims: ragtruth_qa": "RAG answers (RAGTruth)",
    "tribunal, no packs": "tribunal decisions, no packs",
}
KINDS = (
    "fields, sources left out, by kind of error",
    "made from sources left out, by kind of error",
)


def general() -> str:
    """The sections of the run over schemas that the scorer does not know, as printed."""
    return "```text\n" + "\n\n".join(_printed_blocks()[:2]) + "\n```"


def general_in_short() -> str:
    """The rows of that run that the README quotes."""
    heads = ["judged", "rows", "AUROC", "macro F1", "wrong accepted", "right stopped"]
    printed = _printed_rows(_printed_blocks()[1])
    rows = []
    for name, text in README_ROWS.items():
        number, _, auroc, f1, low, high, _, escaped, refused, *_ = printed[name]
        rows.append([text, number, auroc, f"{f1} {low} {high}", escaped, refused])
    return table(heads, rows)


def general_wanted() -> str:
    """Beside what was wanted on fields that nobody showed the reader."""
    _, _, _, f1, low, high, caught, *_ = _printed_rows(_printed_blocks()[1])[
        "fields, sources left out"
    ]
    return table(
        ["fields, sources left out", "wanted", "measured"],
        [
            ["wrong values caught at 6% false alarms", ".80", caught],
            ["macro F1", ".85", f"{f1} {low} {high}"],
        ],
    )


def general_kinds() -> str:
    """The kinds of error, worst first by the wrong values that were accepted."""
    rows = []
    for title in KINDS:
        block = next(block for block in _printed_blocks() if block.startswith(f"{title}\n"))
        for name, cells in _printed_rows(block.partition("\n")[2]).items():
            _, wrong, auroc, *rest = cells
            caught, escaped, refused = rest[6:9]
            rows.append([name.replace("_", " "), wrong, auroc, caught, escaped, refused])
    rows.sort(key=lambda row: float(row[4]), reverse=True)
    heads = ["kind of error", "wrong values", "AUROC", "caught", "escaped", "refused"]
    return table(heads, rows)


def _printed_blocks() -> list[str]:
    return (MEASURED / "general.txt").read_text(encoding="utf-8").split("\n\n")


def _printed_rows(block: str) -> dict[str, list[str]]:
    """The rows below a head by their name, without the number of sources."""
    lines = block.splitlines()[1:]
    return {line[:36].partition("(")[0].strip(): line[36:].split() for line in lines}


def table1() -> str:
    """The paper's Table 1 on our rows, without packs and with them."""
    plain, packs = (
        read(f"experiments/{name}.json")["results"] for name in ("table1", "table1-packs")
    )
    named = [(f"`{row['scorer']}`", row) for row in plain]
    named += [(f"`{row['scorer']}`, packs", row) for row in packs if row["scorer"] == "default"]
    return table(
        ["scorer", "precision", "recall", "F1", "AUROC"],
        [
            [name, *_shares(row, "precision", "recall"), interval(row, "f1"), share(row["auroc"])]
            for name, row in named
        ],
    )


def figure4() -> str:
    """F1 and AUROC by what the labels trained."""
    rows = [
        [_training(row), interval(row, "f1"), share(row["auroc"])]
        for row in read("experiments/figure4.json")["results"]
    ]
    return table(["trained on", "F1", "AUROC"], rows)


def _training(row: dict[str, Any]) -> str:
    silver, gold = row["silver"], row["gold"]
    parts: Iterable[str] = ["silver"] * bool(silver) + [f"{gold} gold labels"] * bool(gold)
    return ", then ".join(parts)


def figure5() -> str:
    """Share of each model's answers that the default scorer accepts, beside the labels'."""
    run = next(r for r in read("experiments/figure5.json")["results"] if r["scorer"] == "default")
    rows = [
        [row["model"], str(row["n"]), interval(row, "score"), interval(row, "labelled")]
        for row in run["rows"]
    ]
    agreement = (
        f"Pearson's r is {share(run['correlation'])}; {run['same_order']:.0%} of the pairs of "
        "models are in the order of their labels."
    )
    return f"{table(['model', 'answers', 'accepted', 'supported'], rows)}\n\n{agreement}"


def groundedness() -> str:
    """Macro F1, AUROC and latency of every detector on each set of answers."""
    results = read("groundedness.json")["results"]
    sets = list(dict.fromkeys(row["dataset"] for row in results))
    found = {(row["detector"], row["dataset"]): row for row in results}
    rows = [
        [
            f"`{name}`",
            *(interval(found[name, data], "f1") for data in sets),
            " / ".join(share(found[name, data]["auroc"]) for data in sets),
            " / ".join(f"{found[name, data]['latency_seconds']:.2g}" for data in sets),
        ]
        for name in dict.fromkeys(row["detector"] for row in results)
    ]
    heads = ["detector", *(f"{name}, macro F1" for name in sets), "AUROC", "seconds an answer"]
    return table(heads, rows)


def hallugraph() -> str:
    """AUC of HalluGraph on each set: all answers, and by the number of entities."""
    rows: dict[str, dict[str, list[str]]] = {}
    current: dict[str, list[str]] = {}
    for line in (MEASURED / "hallugraph.txt").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == 1 and cells[0]:
            current = rows.setdefault(cells[0].partition(",")[0], {})
        elif len(cells) > 1:
            current[cells[0]] = cells
    bands = ["all", "5-9 entities", "10-19 entities", "20 entities or more"]
    return table(
        ["set", "answers", *bands],
        [
            [name, found["all"][1], *(f"{found[b][4]} {found[b][5]}" for b in bands)]
            for name, found in rows.items()
        ],
    )


def _shares(row: dict[str, Any], *names: str) -> list[str]:
    return [share(row[name]) for name in names]
