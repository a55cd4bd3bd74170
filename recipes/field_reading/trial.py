"""Today's form of reading against one reading for all fields, on the same rows and minutes:
``python -m recipes.field_reading.trial DATA FOLDER --base BASE --start READER --minutes 60``.

BASE is a folder with ``tokenizer.json`` of all-mpnet-base-v2, READER the folder of a reader to
start from (by default the large one that ships). Each form is trained for the same minutes of
processor time; a run that was stopped goes on. What is printed goes into docs/measured/reading.md.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog
import torch

from safepassage.scoring_worker.encoders.reader_model import load_reader, trainable

from .corpus import LEFT_OUT, Corpus, answer_sentences, role_pairs
from .examples import TextTokens
from .fit import WEIGHTS, FieldFit, fit
from .measure import Judged, judged, sample, statements_auroc
from .model import FieldReader
from .rows import LabelledDocument, natural_documents, slot_documents, written_documents

log = structlog.get_logger(__name__)

FORMS = {"one by one": True, "all fields": False}
NATURAL, LEFT_OUT_PASSAGES = 90, 40
"""Documents of each natural set, and passages of each source left out, that are judged."""
SHIPPED = Path("weights/safepassage_large/model")


def start(folder: Path) -> FieldReader:
    """The model before training: the reader in ``folder`` with new heads, its words frozen."""
    reader = trainable(load_reader(folder)).float()
    reader.freeze_words()
    torch.manual_seed(0)
    return FieldReader(reader)


def measured(
    model: FieldReader, tokens: TextTokens, data: Path, *, one_by_one: bool
) -> Mapping[str, object]:
    """The figures of one form, by set."""
    written = [own for own in written_documents(data) if own.split == "dev"]
    english = [own for own in written if own.language == "en"]
    on_written = judged(model, tokens, english, one_by_one=one_by_one)
    natural: dict[str, list[LabelledDocument]] = defaultdict(list)
    for own in natural_documents(data):
        natural[own.source].append(own)
    of_natural = {
        name: judged(model, tokens, sample(own, NATURAL), one_by_one=one_by_one)
        for name, own in natural.items()
    }
    of_left_out = {
        name: judged(
            model, tokens, slot_documents(data, name, LEFT_OUT_PASSAGES), one_by_one=one_by_one
        )
        for name in LEFT_OUT
    }
    return {
        "written dev, English": _figures(on_written),
        "by kind": on_written.by_kind(),
        "natural": {name: _figures(own) for name, own in of_natural.items()},
        "left out": {name: _figures(own) for name, own in of_left_out.items()},
        "exchanged roles dev": statements_auroc(model, tokens, role_pairs(data, "dev")),
        "sentences of answers dev": statements_auroc(model, tokens, answer_sentences(data, "dev")),
    }


def _figures(own: Judged) -> dict[str, object]:
    ranked, pairs = own.pairs
    return {
        "rows": len(own.rows),
        "auroc": round(own.auroc, 3),
        "wrong stopped at .12": round(own.caught, 3),
        "pairs ranked right": round(ranked, 3),
        "pairs": pairs,
        "cpu_ms_per_row": round(1000 * own.seconds / len(own.rows), 1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--base", type=Path, required=True, help="folder with the tokenizer")
    parser.add_argument("--start", type=Path, default=SHIPPED, help="folder of a reader")
    parser.add_argument("--minutes", type=float, default=60.0, help="of processor time, each form")
    parser.add_argument("--form", choices=tuple(FORMS), help="only this one")
    parser.add_argument("--measure-only", action="store_true", help="what is trained already")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    tokens = TextTokens(chosen.base)
    for name, one_by_one in FORMS.items():
        if chosen.form not in (None, name):
            continue
        folder = chosen.folder / name.replace(" ", "-")
        model = start(chosen.start)
        if not (folder / WEIGHTS).exists() and not chosen.measure_only:
            corpus = Corpus.read(chosen.data, chosen.base)
            fit(model, corpus, folder, FieldFit(chosen.minutes, one_by_one=one_by_one))
        if (folder / WEIGHTS).exists():
            model.load(folder / WEIGHTS)
        figures = measured(model.eval(), tokens, chosen.data, one_by_one=one_by_one)
        print(json.dumps({"form": name, **figures}, indent=1))  # noqa: T201


if __name__ == "__main__":
    main()
