"""Tables of the documentation, made from the measured files in ``docs/measured``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from tools.blocks import MEASURED, Makers, table

README_ROWS = {
    "fields, sources left out": "fields of sources that the reader never saw",
    "denied values": "values that the passage denies",
    "supposed values": "values that the passage only supposes",
    "free claims: NLI": "free claims (NLI sets)",
    "free claims: ragtruth_qa": "sentences of RAG answers (RAGTruth)",
    "tribunal, no packs": "tribunal decisions, no packs",
}


def _read(name: str) -> Any:
    return json.loads((MEASURED / name).read_text(encoding="utf-8"))


def _share(value: float | None) -> str:
    """A proportion with three digits; a dash where it is not defined."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text


def _interval(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_ci"]
    return f"{_share(row[name])} [{_share(low)}, {_share(high)}]"


def general() -> str:
    """The sections of the run over schemas that the scorer does not know, as printed."""
    printed = (MEASURED / "general.txt").read_text(encoding="utf-8").split("\n\n")
    return "```text\n" + "\n\n".join(printed[:2]) + "\n```"


def general_in_short() -> str:
    """The rows of that run that the README quotes."""
    heads = ["judged", "rows", "AUROC", "macro F1", "wrong accepted", "right stopped"]
    printed = {
        line[:36].partition("(")[0].strip(): line[36:].split() for line in general().splitlines()
    }
    rows = []
    for name, text in README_ROWS.items():
        number, _, auroc, f1, low, high, _, escaped, refused, *_ = printed[name]
        rows.append([text, number, auroc, f"{f1} {low} {high}", escaped, refused])
    return table(heads, rows)


def alignment_speed() -> str:
    """Milliseconds for a document, for each mix of contexts and each aligner."""
    runs = _read("alignment.json")["speed"]
    heads = ["aligner", *(f"{run['mix']} at {run['characters']:,}" for run in runs)]
    rows = [[name, *(_time(run, name) for run in runs)] for name in runs[0]["milliseconds"]]
    return table(heads, rows)


def _time(run: dict[str, Any], name: str) -> str:
    times = run["times_full_biopython"][name]
    return f"{fmean(run['milliseconds'][name]):.1f} ({times:.1f}×)"


def alignment_ocr() -> str:
    """Quotes found in OCRed text, by the share of wrong characters."""
    heads = ["character errors", "quotes", "IoU ≥ .9", "IoU ≥ .5", "widened to tokens, IoU ≥ .9"]
    keys = ("iou_at_least_0.9", "iou_at_least_0.5", "snapped_iou_at_least_0.9")
    rows = []
    for band in _read("alignment.json")["ocr"]["bands"]:
        low, high = band["cer"]
        shares = [f"{band[key] / band['quotes']:.1%}" for key in keys]
        rows.append([f"{low:.0%} to {high:.0%}", f"{band['quotes']:,}", *shares])
    return table(heads, rows)


def scoring_speed() -> str:
    """Pairs that the default scorer judges in a second of one CPU thread."""
    rates = _read("scoring-speed.json")["rates"]["cpu"]
    rows = [[way, f"{rate:.0f}"] for way, rate in rates["pairs_per_cpu_second"].items()]
    return table(["way", "pairs per CPU second"], rows)


def files() -> str:
    """Boxes that cover the evidence, for each kind of file, by `check` and by the stream."""
    runs = {"`check`": _read("files.json"), "stream": _read("files-stream.json")}
    rows = [
        [f"{kind}, {way}", f"{row['covered']} of {row['n']}", _share(row["median"])]
        for way, run in runs.items()
        for kind, row in run["by_kind"].items()
    ]
    return table(["files", "boxes with IoU ≥ .8", "median IoU"], rows)


def groundedness() -> str:
    """Macro F1, AUROC and latency of every detector on each set of answers."""
    results = _read("groundedness.json")["results"]
    sets = list(dict.fromkeys(row["dataset"] for row in results))
    found = {(row["detector"], row["dataset"]): row for row in results}
    rows = [
        [
            f"`{name}`",
            *(_interval(found[name, data], "f1") for data in sets),
            " / ".join(_share(found[name, data]["auroc"]) for data in sets),
            " / ".join(f"{found[name, data]['latency_seconds']:.2g}" for data in sets),
        ]
        for name in dict.fromkeys(row["detector"] for row in results)
    ]
    heads = ["detector", *(f"{name}, macro F1" for name in sets), "AUROC", "seconds an answer"]
    return table(heads, rows)


def table1() -> str:
    """The paper's Table 1 on our rows, without packs and with them."""
    plain, packs = (
        _read(f"experiments/{name}.json")["results"] for name in ("table1", "table1-packs")
    )
    named = [(f"`{row['scorer']}`", row) for row in plain]
    named += [(f"`{row['scorer']}`, packs", row) for row in packs if row["scorer"] == "default"]
    return table(
        ["scorer", "precision", "recall", "F1", "AUROC"],
        [
            [name, *_shares(row, "precision", "recall"), _interval(row, "f1"), _share(row["auroc"])]
            for name, row in named
        ],
    )


def figure4() -> str:
    """F1 and AUROC by what the labels trained."""
    rows = [
        [_training(row), _interval(row, "f1"), _share(row["auroc"])]
        for row in _read("experiments/figure4.json")["results"]
    ]
    return table(["trained on", "F1", "AUROC"], rows)


def _training(row: dict[str, Any]) -> str:
    silver, gold = row["silver"], row["gold"]
    parts: Iterable[str] = ["silver"] * bool(silver) + [f"{gold} gold labels"] * bool(gold)
    return ", then ".join(parts)


def _shares(row: dict[str, Any], *names: str) -> list[str]:
    return [_share(row[name]) for name in names]


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


MEASURED_TABLES: Makers = {
    "alignment-ocr": alignment_ocr,
    "alignment-speed": alignment_speed,
    "figure4": figure4,
    "files": files,
    "general": general,
    "general-in-short": general_in_short,
    "groundedness": groundedness,
    "hallugraph": hallugraph,
    "scoring-speed": scoring_speed,
    "table1": table1,
}
