"""Speed and quality of the alignment, against full Biopython, rapidfuzz and langextract.

    python benchmarks/alignment.py [--json docs/measured/alignment.json]
                                   [--plot docs/measured/alignment.png]

CPU time of one process on one machine, each document cold: its index is built anew. All aligners
take turns on the same documents and contexts, and of --repeat times the least counts for each, so
that other load on the machine troubles ratios little. Documents are decisions of ../shared/data
where present and made up otherwise. Takes some ten minutes, nearly all of them in the peers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import alignment_ocr
from alignment_cases import CONTEXTS, MIXES, Case, cases, source
from alignment_peers import FULL, OURS, PROOF, peers

from safepassage.agents.aligner import Aligner
from safepassage.agents.alignment import DocumentIndex, align
from safepassage.schemas import Document, Extraction

PLOTTED_LENGTHS = (5_000, 10_000, 20_000, 50_000, 100_000)
PLOTTED_MIX = "90/5/5"
WANTED = {("90/5/5", 20_000): 150, ("55/40/5", 20_000): 40, ("0/0/100", 20_000): 10}
"""Ratios of means to full Biopython that were asked for."""


def main() -> None:
    options = _options()
    kind, texts = source()
    print(f"{kind}, {CONTEXTS} contexts a document, {_machine()}\n")
    for text in texts[:3]:  # fills the tables that are filled on first use, a page at a time
        align("a quote that is nowhere", text)
    report = {
        "texts": kind,
        "machine": _machine(),
        "speed": [
            _speed(cases(texts, length, count, mix, seed=length), mix, options.repeat)
            for length, count in ((20_000, options.documents), (100_000, options.long_documents))
            for mix in MIXES
        ],
        "verbatim": _verbatim(texts, options.documents),
        "aligner": _aligner(texts, options.documents),
        "ocr": _ocr(options.ocr_quotes),
    }
    if options.plot:
        report["lengths"] = _lengths(texts, 2 * options.long_documents, options.repeat)
        _plot(report["lengths"], options.plot)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=20, help="of 20,000 characters")
    parser.add_argument("--long-documents", type=int, default=3, help="of 100,000 characters")
    parser.add_argument("--repeat", type=int, default=3, help="times of which the least counts")
    parser.add_argument("--ocr-quotes", type=int, help="drawn at random; all without it")
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--plot", type=Path, help="time against document length, as PNG")
    return parser.parse_args()


def _machine() -> str:
    return f"{platform.machine()}, Python {platform.python_version()}"


def _speed(made: Sequence[Case], mix: str, repeat: int) -> dict[str, Any]:
    """Milliseconds a document for every aligner on the same cases."""
    length = len(made[0].text)
    print(f"{mix} at {length:,} characters, {len(made)} documents: ms per document")
    timed = _timed(made, repeat)
    full = statistics.mean(timed[FULL])
    wanted = WANTED.get((mix, length))
    for name, milliseconds in timed.items():
        mean, median = statistics.mean(milliseconds), statistics.median(milliseconds)
        goal = f"   (wanted: {wanted} times)" if wanted and name in (OURS, PROOF) else ""
        print(
            f"  {name:28} mean {mean:9.2f}  median {median:9.2f}  "
            f"{full / mean:7.1f} times full Biopython{goal}"
        )
    print()
    return {
        "mix": mix,
        "characters": length,
        "milliseconds": {name: [round(ms, 3) for ms in each] for name, each in timed.items()},
        "times_full_biopython": {n: full / statistics.mean(each) for n, each in timed.items()},
    }


def _timed(made: Sequence[Case], repeat: int) -> dict[str, list[float]]:
    """CPU milliseconds by aligner for each document, the least of ``repeat`` times."""
    timed: dict[str, list[float]] = {name: [] for name in peers()}
    for case in made:
        contexts = [context for _, context in case.contexts]
        for name, aligner in peers().items():
            rounds = (_milliseconds(aligner, case.text, contexts) for _ in range(repeat))
            timed[name].append(min(rounds))
    return timed


def _milliseconds(
    aligner: Callable[[str, Sequence[str]], object], text: str, contexts: Sequence[str]
) -> float:
    started = time.process_time()
    aligner(text, contexts)
    return (time.process_time() - started) * 1e3


def _verbatim(texts: Sequence[str], count: int) -> dict[str, float]:
    """Verbatim contexts against `str.find` of the same contexts, in microseconds a context."""
    made = [
        (DocumentIndex(case.text), context)
        for case in cases(texts, 20_000, count, "90/5/5", seed=1)
        for kind, context in case.contexts
        if kind == "verbatim"
    ]
    ours = _each(lambda index, context: index.align(context), made)
    hit = _each(lambda index, context: index.text.find(context), made)
    scan = _each(lambda index, context: index.text.find(context + "\0"), made)
    print(
        f"verbatim contexts at 20,000 characters: {ours:.1f} us; str.find of the same {hit:.1f} us"
        f" ({ours / hit:.1f} times), over the whole document {scan:.1f} us ({ours / scan:.1f}"
        " times; wanted: at most 10)\n"
    )
    return {"ours_us": ours, "find_hit_us": hit, "find_whole_us": scan}


def _each(
    call: Callable[[DocumentIndex, str], object], made: Sequence[tuple[DocumentIndex, str]]
) -> float:
    """Microseconds a call: the median of several rounds over all of them."""
    rounds = []
    for _ in range(9):
        started = time.process_time()
        for index, context in made:
            call(index, context)
        rounds.append((time.process_time() - started) / len(made) * 1e6)
    return statistics.median(rounds)


def _aligner(texts: Sequence[str], count: int) -> dict[str, float]:
    """Extractions a second of CPU through the aligner class, models and thread included."""
    made = cases(texts, 20_000, count, "90/5/5", seed=2)
    batches = [(_document(n, case), _extractions(n, case)) for n, case in enumerate(made)]

    async def all_documents() -> None:
        aligner = Aligner()
        for document, extractions in batches:
            await aligner.align(document.text, document.ref(), extractions)
        aligner.close()

    started = time.process_time()
    asyncio.run(all_documents())
    rate = count * CONTEXTS / (time.process_time() - started)
    print(f"aligner at 90/5/5, 20,000 characters: {rate:,.0f} extractions a CPU second\n")
    return {"extractions_per_cpu_second": rate}


def _document(number: int, case: Case) -> Document:
    return Document(id=f"document-{number}", text=case.text)


def _extractions(number: int, case: Case) -> list[Extraction]:
    return [
        Extraction(
            id=f"extraction-{number}-{ordinal}",
            doc_id=f"document-{number}",
            entity_type="Quote",
            value=kind,
            context=context,
        )
        for ordinal, (kind, context) in enumerate(case.contexts)
    ]


def _ocr(quotes: int | None) -> dict[str, Any] | None:
    report = alignment_ocr.measure(quotes)
    if report is None:
        print("OCR: ../shared/data/ocr is absent\n")
        return None
    print(
        f"OCR: quotes of {alignment_ocr.LONG_ENOUGH} characters or more in OCRed text. IoU is that"
        " of the exact span of the\nbest alignment; the last column is that of the span widened to"
        " whole tokens, as the scorer reads it"
    )
    print("  character errors     quotes  IoU >= .9  IoU >= .5  widened to tokens, IoU >= .9")
    for band in report["bands"]:
        low, high = band["cer"]
        print(f"  {low:.0%} to {high:.0%}".ljust(22), _shares(band))
    print("  up to 20%".ljust(22), _shares(report["wanted"]), "  (wanted: 99.5% IoU >= .9)")
    for name in ("kept_from_another_document", "kept_from_the_largest_other_document"):
        kept = report[name]
        share = kept["kept"] / kept["quotes"]
        print(f"  {name.replace('_', ' ')}: {kept['kept']} of {kept['quotes']} ({share:.2%})")
    print("  (wanted: at most 5%)\n")
    return report


def _shares(row: dict[str, Any]) -> str:
    total = max(1, row["quotes"])
    columns = ("iou_at_least_0.9", "iou_at_least_0.5", "snapped_iou_at_least_0.9")
    return f"{row['quotes']:5}   " + "   ".join(f"{row[c] / total:8.2%}" for c in columns)


def _lengths(texts: Sequence[str], count: int, repeat: int) -> dict[str, dict[int, float]]:
    """Mean milliseconds a document by aligner and document length."""
    means: dict[str, dict[int, float]] = {name: {} for name in peers()}
    for length in PLOTTED_LENGTHS:
        timed = _timed(cases(texts, length, count, PLOTTED_MIX, seed=length), repeat)
        for name, milliseconds in timed.items():
            means[name][length] = statistics.mean(milliseconds)
    return means


def _plot(lengths: dict[str, dict[int, float]], path: Path) -> None:
    import matplotlib as mpl  # noqa: PLC0415 - slow to import, and only the plot needs it

    mpl.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots(figsize=(7.5, 4.5), layout="constrained")
    for name, means in lengths.items():
        axes.plot(list(means), list(means.values()), marker="o", label=name)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="document length in characters",
        ylabel="ms per document, CPU, mean",
        title=f"{CONTEXTS} contexts a document: {PLOTTED_MIX} % verbatim/perturbed/foreign",
    )
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
