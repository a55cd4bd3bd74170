"""`scorer.json`: what a folder has to say about itself before its scores are believed.

A model directory holds ``scorer.json`` and the files it names: weights, the tokenizer, a model
card. Every other file's SHA-256 is in the manifest and is verified at load,
so that a half-copied or altered model cannot score (fail closed).
"""

import hashlib
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

import orjson
from pydantic import Field, JsonValue, ValidationError, model_validator

from safepassage.schemas.base import Contract, Probability, is_empty
from safepassage.schemas.jsonl import validation_summary

from .learnt_from import LearntFrom

MANIFEST_NAME = "scorer.json"
REVISION_HEX_DIGITS = 16
PACKAGED_BASE = "default"
"""``base`` of a scorer on the words, vocabulary and shape of the scorer that ships."""


C = TypeVar("C", bound=Contract)


class ModelError(ValueError):
    """A model directory or name that cannot be loaded; the message says what to do."""


def read_contract(model: type[C], path: Path, kind: str) -> C:
    """The ``model`` in a JSON file; ``kind`` is what people call it. Raises `ModelError` where the
    file cannot be read, or is no such thing."""
    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise ModelError(f"{path} is no {kind}: {validation_summary(error)}") from error


class PlattCalibration(Contract):
    """p = 1 / (1 + exp(-(a · logit(raw) + b))), with raw clipped to (1e-6, 1 - 1e-6)."""

    kind: Literal["platt"] = "platt"
    a: float = Field(gt=0)
    b: float


class IsotonicCalibration(Contract):
    """Piecewise linear through (x, y), constant beyond its ends. Both lists never decrease."""

    kind: Literal["isotonic"] = "isotonic"
    x: tuple[Probability, ...] = Field(min_length=1)
    y: tuple[Probability, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_a_function(self) -> Self:
        if len(self.x) != len(self.y):
            raise ValueError("x and y have different lengths")
        if list(self.x) != sorted(self.x) or list(self.y) != sorted(self.y):
            raise ValueError("an isotonic calibration must not decrease")
        return self


Calibration = Annotated[PlattCalibration | IsotonicCalibration, Field(discriminator="kind")]


class TypeThreshold(Contract):
    """The threshold of one entity type, the labels it rests on, and what it was fitted to."""

    value: Probability
    n: int = Field(ge=0)
    target: str | None = None


class Thresholds(Contract):
    """A pair is supported where score >= threshold. Types without one use that of their group
    (see `safepassage.scoring_worker.risk.groups`), groups without one ``default``."""

    default: Probability = 0.5
    by_type: dict[str, TypeThreshold] = Field(default_factory=dict)
    by_group: dict[str, TypeThreshold] = Field(default_factory=dict, exclude_if=is_empty)

    def of(self, entity_type: str, group: str = "") -> float:
        """The threshold for ``entity_type``, compared without case, else for ``group``."""
        folded = {name.casefold(): threshold for name, threshold in self.by_type.items()}
        found = folded.get(entity_type.casefold()) or self.by_group.get(group)
        return self.default if found is None else found.value

    @property
    def pass_nothing(self) -> bool:
        """Whether no score at all is enough: everything goes to people, so that what was stopped
        is the whole stream."""
        every = (*self.by_type.values(), *self.by_group.values())
        return min([self.default, *(one.value for one in every)]) >= 1.0


class ScorerManifest(Contract):
    """The content of ``scorer.json``.

    ``base`` is where the rest of the weights lies: "default", for an encoder a hub id or a path
    relative to the folder; None where the folder itself holds all of them; for "decisions" and
    "cascade" the model that the endpoint is asked for. ``labels`` is the index
    of the entailment logit; for a model with a single logit it is 0 and the score is its sigmoid.
    ``hypothesis_first`` is an encoder's that was taught with the premise behind; ``layout`` is the
    row of `encoders.published` by which published weights are read.
    ``base_digest`` pins the base weights, so that ``revision`` covers them too. ``precision`` is
    what calibration and thresholds were fitted on, and what a CPU uses unless told otherwise.
    ``stack`` belongs to `safepassage.scoring_worker.scorers.default`. ``learnt_from`` tells the
    documents that no test of this scorer may use; None where they are not known. ``languages`` are
    those a reader was measured in; None means the ones that `default` reads. ``others`` is the
    scorer that judges pairs in other languages than this one; None without one beside it.
    ``band`` is a cascade's: the scores of `default`, less its doubts, at which the second is asked.
    """

    version: Literal[1] = 1
    name: str = Field(min_length=1, max_length=200)
    kind: Literal["encoder", "reader", "decisions", "cascade"]
    base: str | None = None
    base_digest: str | None = None
    labels: int = Field(ge=0)
    hypothesis_first: bool = False
    layout: str | None = None
    max_length: int = Field(gt=8, le=8192)
    precision: Literal["fp32", "int8"] = "fp32"
    calibration: Calibration | None = None
    thresholds: Thresholds = Thresholds()
    stack: JsonValue = None
    trained_on: tuple[str, ...] = ()
    learnt_from: LearntFrom | None = None
    languages: tuple[str, ...] | None = None
    others: Literal["small", "large"] | None = None
    band: tuple[Probability, Probability] | None = None
    metrics: dict[str, JsonValue] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)

    @property
    def revision(self) -> str:
        """Hex digits that change with every field, and through ``files`` with every file."""
        said = self.model_dump(mode="json")
        # those that never said keep the revision they had
        unsaid: dict[str, object] = {"learnt_from": None, "languages": None, "others": None}
        unsaid |= {"layout": None, "band": None, "hypothesis_first": False}
        for later, nothing in unsaid.items():
            if said[later] is nothing:
                del said[later]
        canonical = orjson.dumps(said, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(canonical).hexdigest()[:REVISION_HEX_DIGITS]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read and verify the manifest of ``folder``. Raises `ModelError` where it is missing or
        malformed, or a file is missing, altered or unlisted."""
        manifest = read_contract(cls, folder / MANIFEST_NAME, "scorer manifest")
        manifest.verify(folder)
        return manifest

    def verify(self, folder: Path) -> None:
        """Compare every file of ``folder`` with the manifest. Raises `ModelError` where a file is
        missing, altered or not listed."""
        present = digests_of(folder)
        for name in sorted(self.files.keys() | present.keys()):
            if name not in present:
                raise ModelError(f"{folder}: {name} is missing; copy the whole folder again")
            if name not in self.files:
                raise ModelError(f"{folder}: {name} is not in {MANIFEST_NAME}; remove it")
            if present[name] != self.files[name]:
                raise ModelError(f"{folder}: {name} was changed after it was written")

    def save(self, folder: Path) -> Self:
        """Write ``scorer.json`` over the files now in ``folder``; returns what was written."""
        written = self.model_copy(update={"files": digests_of(folder)})
        encoded = orjson.dumps(written.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
        (folder / MANIFEST_NAME).write_bytes(encoded + b"\n")
        return written


def digests_of(folder: Path) -> dict[str, str]:
    """SHA-256 in hex of every file below ``folder`` but the manifest, by POSIX relative path."""
    files = (path for path in folder.rglob("*") if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: file_digest(named[name]) for name in sorted(named) if name != MANIFEST_NAME}


def file_digest(path: Path) -> str:
    """SHA-256 of a file in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
