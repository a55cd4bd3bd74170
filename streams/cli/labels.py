"""``labels export``: what reviews teach."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from ..settings import settings
from .options import Since, utc
from .output import complain, open_outputs, print_line

if TYPE_CHECKING:
    from safepassage.schemas import DocumentRef, Review

    from ..labels.from_reviews import Label, ReviewedCase

labels_app = typer.Typer(
    help="Training data from what reviewers decided.", no_args_is_help=True, name="labels"
)


@labels_app.callback()
def labels() -> None:
    """Training data from what reviewers decided."""


@labels_app.command()
def export(
    out: Annotated[Path, Option("--out", "-o", help="Where the labels go (.gz compresses them).")],
    pairs: Annotated[
        bool,
        Option(
            "--pairs/--extractions",
            help='Pairs {"premise", "hypothesis", "label"} instead of labelled extractions.',
        ),
    ] = False,
    documents_out: Annotated[
        Path | None, Option("--documents-out", "-d", help="Where the documents of the labels go.")
    ] = None,
    since: Since = None,
) -> None:
    """Write the reviews in force as labels, and say how far the reviewers agree.

    The latest decision holds. A correction gives two labels: the old value 0, the new one 1.
    Exits 1 if a document's text is gone, or a record is no review.
    """
    from ..labels.from_reviews import document_names, read_reviews, reviewed_cases
    from ..labels.from_reviews import labels as labels_of

    open_outputs(files=(out, documents_out))
    reviews, unreadable = asyncio.run(read_reviews(settings()))
    cases = reviewed_cases(reviews, utc(since))
    found = [label for case in cases for label in labels_of(case)]
    _write(out, found, pairs)
    missing = 0
    if documents_out:
        missing = asyncio.run(_write_documents(documents_out, document_names(found)))
    _report(cases, reviews, found)
    if unreadable or missing:
        complain.print(f"{unreadable} records are no reviews, {missing} documents are gone")
        raise typer.Exit(1)


def _write(out: Path, found: Sequence[Label], pairs: bool) -> None:
    from ..labels.from_reviews import document_names, extraction_rows, pair_rows, write_rows

    rows = pair_rows(found) if pairs else extraction_rows(found, document_names(found))
    written = write_rows(out, rows)
    print_line(f"{written} labels written to {out}")
    if left_out := len(found) - written:
        print_line(f"{left_out} left out: their quote was not found, so there is no premise")


async def _write_documents(out: Path, names: dict[DocumentRef, str]) -> int:
    from safepassage.agents.document_store import DocumentStoreError

    from ..agent_factory import document_store
    from ..labels.from_reviews import document_row, opened_rows

    written: set[str] = set()
    gone = 0
    async with AsyncExitStack() as resources:
        stream = resources.enter_context(opened_rows(out))
        store = await document_store(settings(), resources)
        for ref, name in names.items():
            if name in written:
                continue
            try:
                row = document_row(name, await store.get(ref))
            except (DocumentStoreError, LookupError, ValueError) as error:
                gone += 1
                complain.print(f"no text for {name}: {type(error).__name__}")
            else:
                stream.write(row + b"\n")
                written.add(name)
    print_line(f"{len(written)} documents written to {out}")
    return gone


def _report(
    cases: Sequence[ReviewedCase], reviews: Sequence[Review], found: Sequence[Label]
) -> None:
    from safepassage.scoring_worker.evaluation.kappa import fleiss_kappa, pairwise_kappas

    from ..labels.from_reviews import ratings

    supported = sum(label.label for label in found)
    checks = sum(case.standing.sampled for case in cases)
    print_line(
        f"{len(cases)} cases by {len({r.person for r in reviews})} reviewers: "
        f"{supported} supported, {len(found) - supported} not; {checks} were spot checks"
    )
    shared = ratings(cases)
    disputed = sum(case.disputed for case in cases)
    print_line(f"{len(shared)} cases judged by several reviewers, who differ on {disputed}")
    for (first, second), (both, kappa) in pairwise_kappas(shared).items():
        print_line(
            f"  {first.strip()} and {second.strip()}: {both} cases, Cohen's kappa {_kappa(kappa)}"
        )
    if len({name for case in shared for name in case}) > 2:
        print_line(f"  all of them: Fleiss' kappa {_kappa(fleiss_kappa(shared))}")


def _kappa(kappa: float | None) -> str:
    return "not defined (no variance)" if kappa is None else f"{kappa:.2f}"
