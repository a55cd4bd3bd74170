"""Tables of quality in the documentation, made from the measured files in ``docs/measured``."""

from collections.abc import Iterable
from typing import Any

from tools.tables import MEASURED, interval, read, share, table

README_ROWS = {
    "natural errors of LLMs (3)": "natural errors of LLMs",
    "short quotes of these (5)": "short quotes of left-out fields",
    "  denied values": "values that the passage denies",
    "  supposed values": "values that the passage only supposes",
    "free claims: NLI (7)": "free claims (NLI sets)",
    "answers: ragtruth_qa": "RAG answers (RAGTruth)",
    "tribunal, no packs": "tribunal decisions, no packs",
}
WANTED = {
    "natural errors of LLMs (3)": ("natural errors", "AUROC ≥ .75, accepted ≤ .45, stopped ≤ .15"),
    "fields that trained no reader (4)": (
        "fields that trained no reader",
        "AUROC ≥ .92, macro F1 ≥ .85",
    ),
    "answers: ragtruth_qa": ("RAG answers", "AUROC ≥ .85, stopped ≤ .15"),
}
KINDS = ("natural errors of LLMs", "short quotes of these", "made from these")


def general() -> str:
    """The sections of the run over schemas that the scorer does not know, as printed."""
    printed = (MEASURED / "general.txt").read_text(encoding="utf-8").split("\n\n")
    return "```text\n" + "\n\n".join(printed[:2]) + "\n```"


def strict() -> str:
    """What strict mode stops, as printed, without the line that names the scorer's revision."""
    printed = (MEASURED / "strict.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(["```text", *printed[1:], "```"])


def general_in_short() -> str:
    """The rows of that run that the README quotes."""
    rows = [[text, *_judged(_summary(name))] for name, text in README_ROWS.items()]
    return table(["judged", *_HEADS], rows)


def general_wanted() -> str:
    """Beside what was wanted."""
    rows = [[text, wanted, *_judged(_summary(name))] for name, (text, wanted) in WANTED.items()]
    return table(["", "wanted", *_HEADS], rows)


def general_kinds() -> str:
    """The kinds of error, worst first by the wrong values that were accepted."""
    tables = read("general.json")["tables"]
    found = [
        (kind, row)
        for section in KINDS
        for kind, row in tables[f"{section}, by kind of error · default"].items()
    ]
    found.sort(key=lambda one: -one[1]["escaped"])
    rows = [
        [
            kind.replace("_", " "),
            str(row["unsupported"]),
            *_shares(row, "auroc", "caught", "escaped", "refused"),
        ]
        for kind, row in found
    ]
    heads = ["kind of error", "wrong values", "AUROC", "caught", "escaped", "refused"]
    return table(heads, rows)


_RISKS = {
    "natural errors of LLMs (3)": "errors that LLMs made",
    "fields that trained no reader (4)": "fields that trained nothing here",
    "languages without training data (20)": "languages without training data",
    "tribunal, no packs": "decisions of a tribunal",
    "tribunal, packs contracts, legal": "the same with `SAFEPASSAGE_PACKS=contracts,legal`",
    "free claims: NLI (7)": "free claims",
}


def risk() -> str:
    """What escapes and what is refused, by scorer and kind of row."""
    rows = [
        [text, f"`{scorer}`", str(row["n"]), *_shares(row, "escaped", "refused")]
        for name, text in _RISKS.items()
        for scorer in read("general.json")["revisions"]
        for row in (read("general.json")["summary"][f"{name} · {scorer}"],)
    ]
    return table(["values", "scorer", "rows", "wrong ones that escape", "right ones refused"], rows)


_HEADS = ["rows", "AUROC", "macro F1", "wrong accepted", "right stopped"]


def _summary(name: str) -> dict[str, Any]:
    found: dict[str, Any] = read("general.json")["summary"][f"{name} · default"]
    return found


def _judged(row: dict[str, Any]) -> list[str]:
    rates = _shares(row, "escaped", "refused")
    return [str(row["n"]), share(row["auroc"]), interval(row, "macro_f1"), *rates]


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
    return _by_labels("figure4")


def figure4_encoder() -> str:
    """The same of a cross-encoder, by the paper's names, and what each kind of label adds."""
    run = read("experiments/figure4-encoder.json")
    gains = [
        f"- {one['by'].capitalize()} labels add {interval(one, 'f1')} to F1"
        + (f" at {one['gold']} gold labels." if one["gold"] else " where there are no gold ones.")
        for one in run["gains"]
    ]
    return "\n\n".join([_by_labels("figure4-encoder"), "\n".join(gains)])


def _by_labels(name: str) -> str:
    rows = [
        [_training(row), *_shares(row, "precision", "recall"), interval(row, "f1"),
         share(row["auroc"])]
        for row in read(f"experiments/{name}.json")["results"]
    ]  # fmt: skip
    return table(["trained on", "precision", "recall", "F1", "AUROC"], rows)


def _training(row: dict[str, Any]) -> str:
    silver, gold = row["silver"], row["gold"]
    parts: Iterable[str] = ["silver"] * bool(silver) + [f"{gold} gold labels"] * bool(gold)
    return ", then ".join(parts) or "NLI alone"


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


def memory() -> str:
    """AUROC and macro F1 by how many values were reviewed."""
    rows = []
    for scorer, sources in read("memory.json").items():
        for name, sizes in sources.items():
            auroc = [share(sizes[size]["auroc"]) for size in sizes]
            macro = [share(sizes[size]["macro_f1"]) for size in sizes]
            rows.append([f"{name}, `{scorer}`", str(sizes["0"]["n"]), *auroc, *macro])
    sizes = ("0", "25", "50", "100")
    columns = [*(f"AUROC {k}" for k in sizes), *(f"F1 {k}" for k in sizes)]
    return table(["source, scorer", "rows", *columns], rows)


def _shares(row: dict[str, Any], *names: str) -> list[str]:
    return [share(row[name]) for name in names]


def reviews() -> str:
    """Quality by the number of reviews, all measured."""
    heads = [
        "field, reviews", "of them right", "macro F1", "AUROC", "caught", "accepted at 2%",
        "accepted at 5%", "minutes",
    ]  # fmt: skip
    rows = [
        [
            f"{_field(curve)}, {point['size']}",
            f"{point['supported_reviewed']:.0f}",
            *(interval(point, name) for name in ("macro_f1", "auroc", "caught")),
            share(_accepted(point, 0.02)),
            share(_accepted(point, 0.05)),
            f"{point['seconds'] / 60:.0f}",
        ]
        for curve in read("reviews.json")["curves"]
        for point in curve["results"]
    ]
    return table(heads, rows)


def reviews_in_short() -> str:
    """Before any review, and after the most: what the README quotes."""
    curves = read("reviews.json")["curves"]
    most = max(point["size"] for curve in curves for point in curve["results"])
    rows = []
    for curve in curves:
        of_size = {point["size"]: point for point in curve["results"]}
        if {0, most} <= of_size.keys():
            before, after = of_size[0], of_size[most]
            rows.append(
                [
                    _field(curve),
                    *(
                        f"{share(before[name])} → {share(after[name])}"
                        for name in ("macro_f1", "auroc", "caught")
                    ),
                    f"{share(_accepted(before, 0.05))} → {share(_accepted(after, 0.05))}",
                ]
            )
    heads = [f"0 → {most} reviews", "macro F1", "AUROC", "caught", "accepted at 5% risk"]
    return table(heads, rows)


def _field(curve: dict[str, Any]) -> str:
    base = "" if curve["base"] == "default" else f" (`{curve['base']}`)"
    return f"{curve['dataset']}{base}"


def _accepted(point: dict[str, Any], risk: float) -> float:
    """Where a tenth of the stream is wrong."""
    (found,) = [one for one in point["certified"] if one["wrong"] == 0.1 and one["risk"] == risk]
    return float(found["accepted"])
