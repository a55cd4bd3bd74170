"""``groundedness``: methods that judge answers, compared; altered answers; their own training."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from safepassage.schemas import canonical_json
from safepassage.schemas.error_type import ERROR_TYPES
from safepassage.streams.cli.label_options import progress_bars, show_refused
from safepassage.streams.cli.options import JsonFile
from safepassage.streams.cli.output import (
    complain,
    open_outputs,
    print_line,
    print_tables,
    write_figures,
)
from safepassage.streams.runtime.errors import OperatorError

from .options import LabelledAnswers

groundedness_app = typer.Typer(
    name="groundedness",
    no_args_is_help=True,
    help="Compare the methods that judge whether an answer rests on its context.",
)

CACHE_HELP = "safepassage/groundedness in $XDG_CACHE_HOME, or in ~/.cache"
ANSWERS_NAME = "llm_answers.jsonl"
"""The file of answers in the cache of the benchmark."""

Datasets = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATASET...",
        help='JSON lines (.gz) of {"id", "context", "response" or "claim", "label"}, with "query".',
    ),
]


@groundedness_app.command()
def benchmark(
    datasets: Datasets,
    *,
    detectors: Annotated[
        list[str],
        typer.Option(
            "--detector",
            "-d",
            help="A detector, perhaps with its model: gc=FOLDER. Several side by side; by default "
            "all that need neither network nor weights of one's own.",
        ),
    ] = [],
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder of what was judged and what an LLM answered: a run goes on. "
            f"Default: {CACHE_HELP}."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Where tables and plot go: FILE.txt and FILE.png.")
    ] = None,
    json_file: JsonFile = None,
    limit: Annotated[
        int | None, typer.Option(help="About so many answers of a set, whole queries.", min=2)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of --limit.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads; latency is of so many.", min=1)] = 1,
) -> None:
    """Compare methods on labelled answers: macro F1, accuracy, latency and cost, with intervals.

    What an LLM answered is kept in the cache, so a second run asks nothing and prints the same.
    Exits 1 if a row could not be read.
    """
    from rich.console import Console

    from research.groundedness.benchmark import (
        needing_nothing,
        run_benchmark,
    )
    from research.groundedness.sampling import read_answers
    from research.groundedness.tables import plot, tables
    from safepassage.scoring_worker.detectors.contract import DetectorSettings

    figures = (report.with_suffix(".txt"), report.with_suffix(".png")) if report else ()
    cache = cache or cache_folder()
    open_outputs(files=(*figures, json_file), folders=[cache])
    sets = [read_answers(path, limit=limit, seed=seed) for path in datasets]
    for path, read in zip(datasets, sets, strict=True):
        show_refused(path, read.refused)
    with progress_bars() as on_progress:
        found = run_benchmark(
            sets,
            detectors or needing_nothing(),
            cache,
            on_progress,
            settings=DetectorSettings(threads=threads),
            asked_for=bool(detectors),
            seed=seed,
        )
    made = tables(found)
    print_tables(made)
    for name, why in found.left_out.items():
        complain.print(f"left out: {name}: {why}", soft_wrap=True)
    if report:
        with report.with_suffix(".txt").open("w", encoding="utf-8") as file:
            console = Console(file=file, width=150)
            for table in made:
                console.print(table)
        plot(report.with_suffix(".png"), found)
        print_line(f"written: {report.with_suffix('.txt')}, {report.with_suffix('.png')}")
    write_figures(json_file, found)
    if any(read.refused for read in sets):
        raise typer.Exit(1)


@groundedness_app.command()
def adapt(
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS", help='JSON lines (.gz) of {"id", "query", "context", "response"}.'
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where answers and twins go.")],
    error_types: Annotated[
        list[str], typer.Option("--type", help="An error type; by default all six.")
    ] = [],
    cache: Annotated[
        Path | None,
        typer.Option(
            help="File of what the LLM answered: a second run asks nothing again. "
            f"Default: {ANSWERS_NAME} in {CACHE_HELP}."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="So many answers at most.", min=1)] = None,
) -> None:
    """Have an LLM make subtle ungrounded variants of grounded answers, one for each error type.

    Rows labelled 0 are left out: a variant of what is not grounded shows nothing. All answers to a
    query are in one split, train, dev or test, 70 : 10 : 20.
    """
    from research.adaptation.files import (
        grounded_answers,
        written_rows,
    )
    from research.adaptation.llm_twins import (
        adapt as adapt_all,
    )
    from research.detectors.llm.batch_calls import Asker
    from research.detectors.llm.settings import MethodSettings

    if unknown := sorted(set(error_types) - set(ERROR_TYPES)):
        raise OperatorError(f"no error type {unknown[0]!r}; there are: {', '.join(ERROR_TYPES)}")
    kinds = [kind for kind in ERROR_TYPES if not error_types or kind in error_types]
    cache = cache or cache_folder() / ANSWERS_NAME
    open_outputs(files=(out, cache))
    given, refused = grounded_answers(answers, limit)
    show_refused(answers, refused)
    with progress_bars() as on_progress:
        made = adapt_all(given, Asker(MethodSettings(llm_answers=cache)), kinds, on_progress)
    _write(out, written_rows(made.twins))
    cost = "" if made.usage.cost_usd is None else f", {made.usage.cost_usd:.4f} US dollars"
    print_line(
        f"{len(made.twins)} altered answers to {len(given)}, {made.usage.input_tokens} tokens in, "
        f"{made.usage.output_tokens} out{cost}: {out}"
    )
    for why, count in made.failures.most_common():
        complain.print(f"refused {count}: {why}")
    if refused or made.failures:
        raise typer.Exit(1)


@groundedness_app.command()
def substitute(
    documents: Annotated[
        list[Path],
        typer.Argument(
            metavar="DOCUMENTS...",
            help='JSON lines (.gz) of {"id", "text", "entities": [{"type", "start", "end"}]}.',
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where answers and twins go.")],
    kind: Annotated[
        Literal["foreign", "exchanged"],
        typer.Option(
            help="foreign: an entity of another document; exchanged: two of the sentence."
        ),
    ] = "foreign",
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
) -> None:
    """Write sentences of documents as answers, and twins with another entity in them, by rule: at
    most one of each document."""
    from research.adaptation.substitutions import (
        substitutions,
    )
    from research.corpora import known_documents
    from safepassage.scoring_worker.training.corpora import read_rows

    open_outputs(files=[out])
    known = (one for path in documents for one in known_documents(read_rows(path)))
    made = substitutions(known, kind, seed)
    _write(out, (row for one in made for row in one.rows()))
    print_line(f"{len(made)} sentences with a twin: {out}")


@groundedness_app.command()
def triples(
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS",
            help="RefChecker's answers, JSON lines (.gz) of "
            '{"id", "setting", "response", "triples": [{"triplet", "label"}]}.',
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the labelled triples go.")],
) -> None:
    """Write triples that people labelled as answers for `benchmark`; their context is what others
    answered to the same question and people found true."""
    from research.groundedness.triples import (
        labelled_triples,
    )
    from safepassage.scoring_worker.training.corpora import read_rows

    open_outputs(files=[out])
    made = list(labelled_triples(read_rows(answers)))
    _write(out, made)
    entailed = sum(row["label"] == 1 for row in made)
    print_line(f"{len(made)} triples, {entailed} of them entailed: {out}")


@groundedness_app.command()
def train(
    twins: Annotated[
        Path,
        typer.Argument(
            metavar="TWINS",
            help="What `groundedness adapt` wrote, or JSON lines (.gz) of NLI rows "
            '{"premise", "hypothesis", "label", "source"}, of which SNLI and MultiNLI are taken.',
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the classifier.")],
    base: Annotated[
        str,
        typer.Option(
            help="A folder or hub id, e.g. microsoft/deberta-v3-large; default: the reader "
            "that ships, taught further."
        ),
    ] = "default",
    limit: Annotated[int, typer.Option(help="So many twins at most.", min=1)] = 1_000,
    epochs: Annotated[int, typer.Option(help="Passes over the sentences.", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="Seed of order, held-out queries and head.")] = 0,
) -> None:
    """Fine-tune GC, the grounding classifier, on the sentences that an altered answer changed."""
    from research.adaptation.files import sentence_twins
    from research.detectors.nli.pairs import is_reader
    from research.detectors.similarity.embedding import reader_embedder
    from research.grounding.examples import weighted
    from research.grounding.fit import GroundingFit, fit
    from research.grounding.models import (
        CrossEncoder,
        TrainedReader,
    )
    from safepassage.scoring_worker.detectors.contract import DetectorSettings

    open_outputs(folders=[out])
    found = sentence_twins(twins, limit, seed)
    examples = weighted(found, reader_embedder(DetectorSettings()))
    trainee = TrainedReader(base) if is_reader(base) else CrossEncoder(base, seed=seed)
    with progress_bars() as on_progress:
        fitted = fit(trainee, examples, GroundingFit(epochs=epochs, seed=seed), on_progress)
    trainee.save(out, [f"{len(found)} twins of {twins.name}"])
    shown = " -> ".join("–" if a is None else f"{a:.3f}" for a in (fitted.before, fitted.accuracy))
    print_line(
        f"{fitted.examples} sentences, loss {fitted.loss}; accuracy on {fitted.held_out} of "
        f"other queries: {shown}. Use it with  --detector gc={out}"
    )


@groundedness_app.command()
def types(
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS",
            help="Answers with their altered twins, as `groundedness adapt` writes them.",
        ),
    ],
    *,
    typers: Annotated[
        list[str], typer.Option("--by", help="local or llm; both show how far they agree.")
    ] = ["local"],
    json_file: JsonFile = None,
) -> None:
    """Type the errors of altered sentences: agreement with the labels and with each other, and
    which types are taken for which."""
    from research.error_types.typers import load_typer
    from research.groundedness.typing import (
        compared,
        confusion_tables,
        labelled_errors,
    )

    open_outputs(files=[json_file])
    errors = labelled_errors(answers)
    said: dict[str, Any] = {}
    for name in typers:
        if name not in ("local", "llm"):
            raise OperatorError(f"no typer {name!r}; there are: local, llm")
        typing = load_typer("llm" if name == "llm" else "local")
        said[name] = typing.type_errors([one.stopped for one in errors])
    found = compared(errors, said)
    print_tables(confusion_tables(found))
    write_figures(json_file, found)


@groundedness_app.command("quip-length")
def quip_length(
    datasets: LabelledAnswers,
) -> None:
    """Choose QuIP's n on half of the queries of each set, and measure it on the others."""
    from research.groundedness.quip import choose_length
    from research.groundedness.sampling import read_answers

    for path in datasets:
        found = choose_length(read_answers(path))
        print_line(
            f"{found.dataset}: n = {found.chosen}, AUROC {found.auroc:.3f} on the other half; "
            f"n = 21: {found.auroc_of_21:.3f}"
        )


@groundedness_app.command("claim-threshold")
def claim_threshold(
    dataset: Annotated[
        Path,
        typer.Argument(
            metavar="DATASET",
            help="JSON lines (.gz) of labelled answers whose hallucinations people marked.",
        ),
    ],
    *,
    detectors: Annotated[
        list[str],
        typer.Option("--detector", "-d", help="A detector, perhaps with its model: gc=FOLDER."),
    ] = ["hallugraph"],
    cache: Annotated[
        Path | None, typer.Option(help=f"Folder of what was judged. Default: {CACHE_HELP}.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="About so many answers, whole queries.", min=2)
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Show what thresholds of claims stop, and fit one on half of the queries."""
    from research.answers.judgement import judge_set
    from research.detectors.registry import load_detector
    from research.groundedness.claims import claim_trades
    from research.groundedness.sampling import read_answers
    from research.groundedness.tables import trades_table
    from safepassage.scoring_worker.detectors.contract import DetectorSettings

    cache = cache or cache_folder()
    open_outputs(files=[json_file], folders=[cache])
    answers = read_answers(dataset, limit=limit)
    found = []
    with progress_bars() as on_progress:
        for named in detectors:
            name, _, model = named.partition("=")
            detector = load_detector(name, DetectorSettings(model=model or None))
            try:
                judged = judge_set(answers, detector, cache / "judged", on_progress, block=1)
            finally:
                detector.close()
            found.append(claim_trades(judged))
    print_tables(map(trades_table, found))
    write_figures(json_file, found)


@groundedness_app.command("train-types")
def train_types(
    texts: Annotated[
        list[Path],
        typer.Argument(
            metavar="TEXTS...",
            help='JSON lines (.gz) of documents {"id", "text"}, of NLI rows, of which those with a '
            "permissive licence are taken, and of `labels export`, of which those with a "
            "reviewer's reason are.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the weights go, as JSON.")],
    most: Annotated[int, typer.Option(help="Examples of a type and kind of text.", min=10)] = 1_500,
    seed: Annotated[int, typer.Option(help="Seed of alterations and draws.")] = 0,
) -> None:
    """Train the local classifier of error types on sentences that rules alter and on claims that
    reviewers refused for a reason, and measure it."""
    from research.error_types.training import (
        of_documents,
        of_reviews,
        of_statements,
        trained,
    )
    from safepassage.schemas import LabelledExtraction
    from safepassage.scoring_worker.training.corpora import read_rows

    open_outputs(files=[out])
    examples, names = [], []
    for path in texts:
        rows = list(read_rows(path))
        if rows and "entity_type" in rows[0]:
            examples += list(of_reviews(map(LabelledExtraction.model_validate, rows)))
        else:
            is_nli = bool(rows) and "premise" in rows[0]
            examples += list((of_statements if is_nli else of_documents)(rows, seed))
        names.append(path.name.removesuffix(".gz").removesuffix(".jsonl"))
    weights = trained(examples, names, most, seed)
    out.write_text(weights.model_dump_json() + "\n", encoding="utf-8")
    for name, figure in weights.measured.items():
        print_line(f"{name}: {figure:g}")
    print_line(f"written: {out}")


def _write(out: Path, rows: Iterable[Any]) -> None:
    with out.open("w", encoding="utf-8") as file:
        file.writelines(canonical_json(row) + "\n" for row in rows)


def cache_folder() -> Path:
    """The folder of the user's caches; never the working folder, which may be a repository."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The specification of these folders ignores a relative path.
    folder = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return folder / "safepassage" / "groundedness"
