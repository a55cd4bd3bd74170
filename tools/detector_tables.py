"""Tables of the detectors of answers, made from the measured files in ``docs/measured``."""

from typing import Any

from tools.tables import interval, read, share, table

_BANDS = ("5-9 entities", "10-19 entities", "20 entities or more")


def groundedness() -> str:
    """Macro F1, AUROC and latency of every detector on each set of answers; of one that was run
    again, the later run."""
    return _benchmark("groundedness.json", "groundedness-minilm.json")


def groundedness_all() -> str:
    """The same of what is quick, on all answers of the sets."""
    return _benchmark("groundedness-all.json")


def substitutions() -> str:
    """AUROC on sentences of contracts and judgments with another entity in them."""
    return _by_auroc("substitutions.json")


def triples() -> str:
    """AUROC and macro F1 on triples that people labelled."""
    results = read("triples.json")["results"]
    rows = [
        [f"`{one['detector']}`", interval(one, "auroc"), interval(one, "f1")] for one in results
    ]
    return table(["detector", "AUROC", "macro F1"], rows)


def claim_thresholds() -> str:
    """What each threshold of claims stops."""
    rows = [
        [
            f"`{run['detector']}`",
            f"{one['threshold']:.2f}{', fitted' if one['fitted'] else ''}",
            interval(one, "marked_stopped", "marked_ci"),
            interval(one, "others_stopped", "others_ci"),
        ]
        for run in read("claim-thresholds.json")
        for one in run["trades"]
    ]
    return table(["detector", "threshold", "marked sentences stopped", "others stopped"], rows)


def hallugraph() -> str:
    """AUC of HalluGraph on each set: all answers, its two measures, and by entities."""
    rows = [
        [
            one["dataset"],
            str(one["whole"]["answers"]),
            *(_band(one[name]) for name in ("whole", "eg", "rp", "plain")),
            *(_band(_named(one["by_entities"], name)) for name in _BANDS),
        ]
        for one in read("hallugraph.json")
    ]
    heads = ["set", "answers", "all", "EG alone", "RP alone", "plain mean", *_BANDS]
    return table(heads, rows)


def _band(band: dict[str, Any]) -> str:
    return "–" if band["auc"] is None else interval(band, "auc", "interval")


def _named(bands: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(band for band in bands if band["name"] == name)


def _benchmark(*names: str) -> str:
    results = [row for name in names for row in read(name)["results"]]
    sets = list(dict.fromkeys(row["dataset"] for row in results))
    found = {(row["detector"], row["dataset"]): row for row in results}
    rows = [
        [
            f"`{name}`",
            *(_f1(found.get((name, data))) for data in sets),
            " / ".join(_auroc(found.get((name, data))) for data in sets),
            " / ".join(_seconds(found.get((name, data))) for data in sets),
        ]
        for name in dict.fromkeys(row["detector"] for row in results)
    ]
    heads = ["detector", *(f"{name}, macro F1" for name in sets), "AUROC", "seconds an answer"]
    return table(heads, rows)


def _f1(row: dict[str, Any] | None) -> str:
    return interval(row, "f1") if row else "–"


def _auroc(row: dict[str, Any] | None) -> str:
    return share(row["auroc"]) if row else "–"


def _seconds(row: dict[str, Any] | None) -> str:
    return f"{row['latency_seconds']:.2g}" if row else "–"


def _by_auroc(name: str) -> str:
    results = read(name)["results"]
    sets = list(dict.fromkeys(row["dataset"] for row in results))
    found = {(row["detector"], row["dataset"]): row for row in results}
    rows = [
        [f"`{detector}`", *(interval(found[detector, data], "auroc") for data in sets)]
        for detector in dict.fromkeys(row["detector"] for row in results)
    ]
    return table(["detector", *(one.replace("_", ", ") for one in sets)], rows)
