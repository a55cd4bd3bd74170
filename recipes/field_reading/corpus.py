"""What one round of training reads: the written rows once, and as much again of the old corpora."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from research.corpora import PERMISSIVE_NLI
from safepassage.scoring_worker.training.corpora import read_rows

from .examples import (
    MAX_FIELDS,
    WINDOW,
    Example,
    FieldRow,
    TextTokens,
    field_example,
    question_example,
    statement_example,
    windows,
)
from .rows import LabelledDocument, own_documents, slot_documents, written_documents

OLD = ("sgd_train", "qamr", "wikitables", "qasrl_gs", "qanom", "snips", "xquad_en", "e2e_clean",
       "templates", "slurp")  # fmt: skip
"""Slots files of English passages with licences that let what ships be trained on them."""
LEFT_OUT = ("sgd_unseen", "kpi_edgar", "materials", "tatqa", "qed")
"""They teach nothing: the measure beside the written rows."""
PASSAGES = 2_500
"""Passages of each slots file at the most."""
CLAIMS = ("fm2", "begin_wow", "dialogue_claims", "scone", "negation_nli")
OLD_SHARE, CLAIM_SHARE = 0.4, 0.1
"""Of the tokens that are read; the rest are of written documents."""
LONGEST_PREMISE = 1_500
_ROLES, _ANSWERS = 0.3, 0.15
"""Of the statements, those of written role pairs and of written answers."""

OWN_ROLES = Path(__file__).parents[1] / "data/roles"
"""Sentences of exchanged roles that were written for this project, a file a family."""
OWN_ANSWERS = OWN_ROLES.parent / "answers/written.jsonl"
"""Answers to questions, sentence by sentence, that were written for this project."""

Statements = list[tuple[str, list[tuple[str, int]]]]
"""Passages, each with statements (text, label)."""


@dataclass(slots=True)
class Corpus:
    """What is read for training, in the split ``train``."""

    tokens: TextTokens
    written: list[LabelledDocument]
    old: list[LabelledDocument]
    claims: Statements
    roles: Statements
    answers: Statements
    fields: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.fields = sorted({row.field for own in self.written for row in own.rows})

    @classmethod
    def read(cls, data: Path, base: Path, languages: Sequence[str] = ("en",)) -> "Corpus":
        """The corpora of DATA.

        Raises:
            CorpusError: a file is missing or unreadable.
        """
        written = [
            own
            for own in (*written_documents(data), *own_documents())
            if own.split == "train" and own.language in languages
        ]
        old = [own for name in OLD for own in slot_documents(data, name, PASSAGES) if own.rows]
        return cls(
            TextTokens(base),
            written,
            old,
            judged_claims(data),
            role_pairs(data, "train"),
            answer_sentences(data, "train"),
        )

    def round(self, number: int, *, seed: int = 0, one_by_one: bool = False) -> list[Example]:
        """Every written row once, and of the rest as many tokens as its share says; the same for
        the same ``seed`` and ``number``. ``one_by_one``: in today's form, one row a pass."""
        rng = random.Random(f"{seed}.{number}")
        written = list(self._written(rng, one_by_one))
        size = sum(len(example.ids) for example in written)
        whole = size / (1 - OLD_SHARE - CLAIM_SHARE)
        old = _as_many(self._old(rng, one_by_one), whole * OLD_SHARE)
        claims = _as_many(self._statements(rng, one_by_one), whole * CLAIM_SHARE)
        made = [*written, *old, *claims]
        rng.shuffle(made)
        return made

    def _written(self, rng: random.Random, one_by_one: bool) -> Iterator[Example]:
        for own in rng.sample(self.written, len(self.written)):
            if one_by_one:
                yield from self._one_by_one(own.rows, rng)
                continue
            there = [row for row in own.rows if row.places]
            for window, rows in windows(self.tokens, own.text, there, rng):
                for chosen in _groups(rows, rng):
                    foreign = rng.sample(self.fields, min(len(self.fields), rng.randint(0, 5)))
                    example = field_example(
                        self.tokens, own.text, chosen, window=window, foreign=foreign, rng=rng
                    )
                    if example.spans:
                        yield example
            stated = [row for row in own.rows if not row.places]
            stated += rng.sample(there, min(2, len(there))) if rng.random() < 0.5 else []
            for row in stated:
                yield statement_example(self.tokens, row.passage, [(row.statement, row.label)])

    def _one_by_one(self, rows: Sequence[FieldRow], rng: random.Random) -> Iterator[Example]:
        for row in rows:
            if row.narrow:
                asked = row.asked if rng.random() < 0.7 else row.field
                example = question_example(
                    self.tokens, asked, row.passage, row.narrow[0], row.label
                )
                if example:
                    yield example
            if not row.narrow or rng.random() < 0.3:
                yield statement_example(self.tokens, row.passage, [(row.statement, row.label)])

    def _old(self, rng: random.Random, one_by_one: bool) -> Iterator[Example]:
        while True:
            own = rng.choice(self.old)
            if one_by_one:
                row = rng.choice(own.rows)
                example = question_example(
                    self.tokens, row.field, own.text, row.places[0], row.label
                )
                if example:
                    yield example
                continue
            count = len(self.tokens.of(own.text)[0])
            names = list(dict.fromkeys(row.field for row in own.rows))
            kept = set(rng.sample(names, min(len(names), MAX_FIELDS - 4)))
            strange = [row.field for row in rng.choice(self.old).rows][: rng.randint(0, 3)]
            if count <= WINDOW:
                yield field_example(
                    self.tokens,
                    own.text,
                    [row for row in own.rows if row.field in kept],
                    window=(0, count),
                    foreign=strange,
                    rng=rng,
                )

    def _statements(self, rng: random.Random, one_by_one: bool) -> Iterator[Example]:
        while True:
            drawn = rng.random()
            if drawn < _ROLES:
                passage, said = rng.choice(self.roles)
                chosen = rng.sample(said, min(len(said), rng.choice((1, 1, 2, 4))))
            elif drawn < _ROLES + _ANSWERS:
                passage, said = rng.choice(self.answers)
                first = rng.randrange(len(said))
                chosen = said[first : first + rng.choice((1, 1, 3))]
            else:
                passage, said = rng.choice(self.claims)
                chosen = [rng.choice(said)]
            yield statement_example(self.tokens, passage, chosen[:1] if one_by_one else chosen)


def _groups(rows: Sequence[FieldRow], rng: random.Random) -> Iterator[list[FieldRow]]:
    """Rows by fields, `MAX_FIELDS` less two at the most; of a third of the groups half of the
    fields are left out, since a schema seldom has all that a passage speaks of."""
    names = list(dict.fromkeys(row.field for row in rows))
    rng.shuffle(names)
    for at in range(0, len(names), MAX_FIELDS - 2):
        kept = names[at : at + MAX_FIELDS - 2]
        if rng.random() < 0.35:
            kept = rng.sample(kept, max(1, len(kept) // 2))
        yield [row for row in rows if row.field in set(kept)]


def _as_many(examples: Iterator[Example], tokens: float) -> Iterator[Example]:
    read = 0
    for example in examples:
        if read >= tokens:
            return
        read += len(example.ids)
        yield example


def judged_claims(data: Path) -> Statements:
    """Statements of the NLI sources, and the sets of claims, that may train what ships."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for row in read_rows(data / "nli/train.jsonl.gz"):
        if row["source"] in PERMISSIVE_NLI and len(row["premise"]) < LONGEST_PREMISE:
            found[row["premise"]].append((row["hypothesis"], int(row["label"] == "entailment")))
    for name in CLAIMS:
        for row in read_rows(data / f"claims/{name}.jsonl.gz"):
            if row["lang"] == "en" and len(row["premise"]) < LONGEST_PREMISE:
                found[row["premise"]].append((row["hypothesis"], int(row["label"] == "entailment")))
    return list(found.items())


def role_pairs(data: Path, split: str) -> Statements:
    """The written passages with sentences of exchanged roles, of one ``split``; those that are
    committed here teach."""
    rows = [r for r in read_rows(data / "written/roles.jsonl.gz") if r["split"] == split]
    if split == "train":
        rows += [row for path in sorted(OWN_ROLES.glob("*.jsonl")) for row in read_rows(path)]
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for row in rows:
        found[row["passage"]].append((row["sentence"], int(row["label"])))
    return list(found.items())


def answer_sentences(data: Path, split: str) -> Statements:
    """The written answers of one ``split``, sentence by sentence, with all that was retrieved;
    those that are committed here teach."""
    rows = [r for r in read_rows(data / "written/answers.jsonl.gz") if r["split"] == split]
    if split == "train":
        rows += read_rows(OWN_ANSWERS)
    return [
        (
            " ".join(row["passages"]),
            [(said["text"], int(said["label"])) for said in row["sentences"]],
        )
        for row in rows
    ]
