"""``ragulator``: its data set, its labels, its models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import orjson
import typer

from safepassage.streams.cli.label_options import progress_bars
from safepassage.streams.cli.output import open_outputs, print_line
from safepassage.streams.runtime.errors import OperatorError

if TYPE_CHECKING:
    from research.curation import CuratedPair

ragulator_app = typer.Typer(
    name="ragulator",
    no_args_is_help=True,
    help="RAGulator's data set, labels and models; `answers` measures them.",
)

Curated = Annotated[
    list[Path], typer.Argument(metavar="CURATED...", help="Files that `ragulator curate` wrote.")
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Where the result goes.")]


@ragulator_app.command()
def curate(
    *,
    out: Out,
    summaries: Annotated[
        list[Path],
        typer.Option(
            help="JSON lines (.gz) with an article and its abstract, summary or conclusion."
        ),
    ] = [],
    pairs: Annotated[
        list[Path], typer.Option(help="JSON lines (.gz) of similar or entailed sentences.")
    ] = [],
    seed: Annotated[int, typer.Option(help="Seed of unrelated articles and noise sentences.")] = 0,
    shortest: Annotated[int, typer.Option(help="Tokens of the shortest context.")] = 100,
) -> None:
    """Build sentence-context pairs: abstracts with own and unrelated articles, pairs in noise."""
    from research.curation import (
        Bounds,
        from_similar,
        from_summaries,
        read_similar,
        read_summary,
    )
    from safepassage.scoring_worker.training.corpora import read_rows

    if not summaries and not pairs:
        raise typer.BadParameter("give --summaries or --pairs")
    open_outputs(files=[out])
    bounds = Bounds(context=(shortest, 5_000))
    made: list[CuratedPair] = []
    for path in summaries:
        articles = [s for n, row in enumerate(read_rows(path)) if (s := read_summary(row, n))]
        made += from_summaries(articles, _source(path), seed, bounds)
    for path in pairs:
        similar = [p for n, row in enumerate(read_rows(path)) if (p := read_similar(row, n))]
        made += from_similar(similar, _source(path), seed, bounds)
    _write(out, made)
    out_of_context = sum(not pair.grounded for pair in made)
    print_line(f"{len(made)} pairs, {out_of_context} out of context: {out}")


@ragulator_app.command("label")
def label_pairs(
    curated: Curated,
    *,
    out: Out,
    variant: Annotated[
        Literal["0-shot", "0-shot-cot", "5-shot", "5-shot-cot"],
        typer.Option(help="0-shot, 0-shot-cot, 5-shot or 5-shot-cot."),
    ] = "0-shot",
    room: Annotated[int, typer.Option(help="Characters of a window.", min=100)] = 1_400,
    people: Annotated[
        Path | None,
        typer.Option(
            help='JSON lines of {"id", "supporting":[...]} by a person: prints agreement.'
        ),
    ] = None,
) -> None:
    """Have an LLM name the context sentences that support each sentence; write its windows."""
    from research.detectors.llm.batch_calls import Asker
    from research.detectors.llm.settings import MethodSettings
    from research.ragulator_training.labelling import (
        agreement,
        label,
        labelled_windows,
        whole_windows,
    )
    from safepassage.scoring_worker.training.corpora import read_rows

    open_outputs(files=[out])
    pairs = _read(curated)
    grounded = [pair for pair in pairs if pair.grounded]
    labelled = label(grounded, Asker(MethodSettings()), variant)
    windows = [
        window for pair in pairs if not pair.grounded for window in whole_windows(pair, room)
    ]
    windows += [w for one in labelled if one.failure is None for w in labelled_windows(one, room)]
    _write(out, windows)
    failed = sum(one.failure is not None for one in labelled)
    print_line(f"{len(windows)} windows of {len(pairs)} pairs, {failed} not labelled: {out}")
    if people:
        by_people = {str(row["id"]): frozenset(row["supporting"]) for row in read_rows(people)}
        print_line(agreement(variant, labelled, by_people).model_dump_json())


@ragulator_app.command()
def train(
    curated: Curated,
    *,
    out: Out,
    model: Annotated[
        Literal["lightgbm", "random-forest", "extended", "encoder"],
        typer.Option(help="lightgbm, random-forest, extended, or encoder."),
    ] = "extended",
    base: Annotated[
        str | None, typer.Option(help="With --model encoder: a folder or hub id to fine-tune.")
    ] = None,
    scorer: Annotated[str, typer.Option(help="What gives relevance, on what is retrieved.")] = (
        "default"
    ),
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Sentence encoder of the similarity, a folder or hub id: BAAI/bge-small-en-v1.5."
        ),
    ] = None,
    reranker: Annotated[
        str | None,
        typer.Option(
            help="Scores the claim with every context sentence, in the scorer's place: "
            "BAAI/bge-reranker-base, or any cross-encoder."
        ),
    ] = None,
) -> None:
    """Train a meta-classifier (OUT is a JSON file) or a cross-encoder (OUT is a folder).

    The file names what its features were measured with, and is served with nothing else.
    """
    pairs = _read(curated)
    if model == "encoder":
        if base is None:
            raise typer.BadParameter("--model encoder needs --base")
        from research.ragulator_training.encoder import train_encoder

        open_outputs(folders=[out])
        with progress_bars() as on_progress:
            losses = train_encoder(base, pairs, out, on_progress)
        print_line(f"losses by epoch: {', '.join(f'{loss:.4f}' for loss in losses)}; {out}")
        return
    from research.detectors.ragulator.model_measure import claim_measure
    from research.ragulator_training.feature_files import (
        labelled_features,
    )
    from research.ragulator_training.fit import fitted
    from safepassage.scoring_worker.detectors.contract import DetectorSettings

    kept = out.with_suffix(".features.jsonl")
    open_outputs(files=(out, kept))
    measure = claim_measure(DetectorSettings(), scorer=scorer, encoder=encoder, reranker=reranker)
    with progress_bars() as on_progress:
        forest = fitted(model, labelled_features(pairs, measure, kept, on_progress), on_progress)
    forest = forest.model_copy(update={"measures": measure.measures})
    out.write_text(forest.model_dump_json() + "\n", encoding="utf-8")
    print_line(f"{forest.parameters}, AUROC of the folds {forest.measured['folds_auroc']}: {out}")


def _source(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def _write(path: Path, pairs: list[CuratedPair]) -> None:
    with path.open("wb") as stream:
        stream.writelines(orjson.dumps(pair.as_row()) + b"\n" for pair in pairs)


def _read(paths: list[Path]) -> list[CuratedPair]:
    """The pairs of curated files."""
    from research.curation import CuratedPair
    from safepassage.scoring_worker.training.corpora import read_rows

    try:
        return [CuratedPair.of_row(row) for path in paths for row in read_rows(path)]
    except (KeyError, TypeError) as error:
        raise OperatorError("not a file that `ragulator curate` wrote") from error
