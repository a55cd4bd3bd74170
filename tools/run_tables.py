"""Tables of speed, boxes and faults in the documentation, from ``docs/measured``."""

import re
from statistics import fmean
from typing import Any

from tools.tables import MEASURED, read, share, table

DEMO_ENTRY = "Ramipril Dose: 850 mg"
"""What the demo stopped that the README shows."""


def demo() -> str:
    """The beginning of what the demo prints, and one value that it stopped. ``safepassage demo >
    docs/measured/demo.txt`` writes the file."""
    lines = (MEASURED / "demo.txt").read_text("utf-8").splitlines()
    first = next(at for at, line in enumerate(lines) if " verdicts: " in line)
    entry = next(at for at, line in enumerate(lines) if DEMO_ENTRY in line)
    document = max(at for at in range(entry) if re.fullmatch(r" {1,3}\S+ *", lines[at]))
    end = next(at for at in range(entry + 1, len(lines)) if not lines[at].startswith(" " * 6))
    shown = [*lines[first : first + 2], "…", lines[document], *lines[entry:end]]
    return "\n".join(["```", *(line.rstrip() for line in shown), "```"])


def alignment_speed() -> str:
    """Milliseconds for a document, for each mix of contexts and each aligner."""
    runs = read("alignment.json")["speed"]
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
    for band in read("alignment.json")["ocr"]["bands"]:
        low, high = band["cer"]
        shares = [f"{band[key] / band['quotes']:.1%}" for key in keys]
        rows.append([f"{low:.0%} to {high:.0%}", f"{band['quotes']:,}", *shares])
    return table(heads, rows)


def alignment_in_short() -> str:
    """What one run says beside its tables."""
    run = read("alignment.json")
    ocr, verbatim = run["ocr"], run["verbatim"]
    wanted, kept = ocr["wanted"], ocr["kept_from_another_document"]
    found = wanted["iou_at_least_0.9"] / wanted["quotes"]
    scan = verbatim["ours_us"] / verbatim["find_whole_us"]
    rate = run["aligner"]["extractions_per_cpu_second"]
    return "\n".join(
        [
            f"- Up to 20% character errors, {found:.1%} of {wanted['quotes']:,} quotes are found "
            "with IoU ≥ .9.",
            f"- {kept['kept']} of {kept['quotes']:,} quotes from other documents are kept.",
            f"- A verbatim quote takes {scan:.1f} times one `str.find` over the document.",
            f"- The aligner handles {rate:,.0f} extractions per CPU second.",
        ]
    )


def scoring_speed() -> str:
    """Pairs that the default scorer judges in a second, with one CPU thread."""
    rates = read("scoring-speed.json")["rates"]["cpu"]
    clock, cpu = rates["pairs_per_second"], rates["pairs_per_cpu_second"]
    rows = [[way, f"{cpu[way]:.0f}", f"{clock[way]:.0f}"] for way in cpu]
    return table(["way", "pairs per CPU second", "by the clock"], rows)


def files() -> str:
    """Boxes that cover the evidence, for each kind of file, by `check` and by the stream."""
    runs = {"`check`": read("files.json"), "stream": read("files-stream.json")}
    rows = [
        [f"{kind}, {way}", f"{row['covered']} of {row['n']}", share(row["median"])]
        for way, run in runs.items()
        for kind, row in run["by_kind"].items()
    ]
    sums = [
        f"- {way}: {run['files']} files, {run['verdicts']} verdicts, {run['accepted']} accepted; "
        f"{run['covered']} of {run['with_boxes']} boxes with IoU ≥ .8, median "
        f"{share(run['median_iou'])}, in {run['seconds']:.0f} s."
        for way, run in runs.items()
    ]
    return table(["files", "boxes with IoU ≥ .8", "median IoU"], rows) + "\n\n" + "\n".join(sums)


def real_model() -> str:
    """What a real LLM extracted, right and wrong, and what the guardrail did with it."""
    runs = [read("real-model.json"), read("real-model-more.json")]
    rows = []
    for kind in ("right", "wrong"):
        counts = [
            sum(run["decisions"].get(f"{kind} {name}", 0) for run in runs)
            for name in ("accepted", "quarantined")
        ]
        rows.append([kind, str(sum(counts)), *map(str, counts)])
    documents = sum(run["documents"] for run in runs)
    return table([f"values of {documents} documents", "all", "accepted", "stopped"], rows)


def faults() -> str:
    """The sum of the runs with faults, as their table says it."""
    page = (MEASURED / "faults.md").read_text(encoding="utf-8")
    return next(line for line in page.splitlines() if "seeded runs under" in line)


def scale() -> str:
    """What the scale model says of each deployment."""
    rows = []
    for run in read("scale.json")["variants"]:
        busy = " ".join(f"{share:.0%}" for share in run["busy"].values())
        waits = [f"{run[name]:.0f} s" for name in ("p50_at_half", "p99_at_half")]
        rate = f"{run['documents_per_second']:.0f}"
        rows.append([run["name"], rate, run["bottleneck"], busy, *waits])
    heads = ["deployment", "documents a second", "first", "busy", "p50 at half", "p99 at half"]
    return table(heads, rows)
