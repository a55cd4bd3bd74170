"""Where training starts: a scorer that is to learn more."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from safepassage.scoring_worker.calibration import carried_over
from safepassage.scoring_worker.encoders.devices import place
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.encoders.reader_model import (
    BASE_FILES,
    READER_FILE,
    ReaderModel,
    load_reader,
    reader_base_digest,
    trainable,
)
from safepassage.scoring_worker.encoders.weight_folders import named_folder
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.manifest import (
    MANIFEST_NAME,
    PACKAGED_BASE,
    ModelError,
    ScorerManifest,
)
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.scoring_worker.scorers import folders
from safepassage.scoring_worker.scorers.by_language import ROUTED, is_in, serving
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.claim_support import CLAIMS_FILE, forest_of
from safepassage.scoring_worker.weighing.stack import Stack


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """A scorer's ``folder`` and ``manifest``; ``words`` is the folder with its words, vocabulary
    and shape, which training leaves alone."""

    folder: Path
    manifest: ScorerManifest
    words: Path

    @property
    def device(self) -> str:
        """Where it is trained: on a CUDA GPU where there is one."""
        found = place().device.type
        return found if found == "cuda" else "cpu"

    def reads(self, pair: LabelledPair) -> bool:
        """Whether this reader, and no other beside it, judges ``pair``."""
        if self.manifest.others is None:
            return True
        return is_in(pair.pair, ROUTED) == (self.manifest.others == "small")

    def scorer(self, model: ReaderModel) -> DefaultScorer:
        """This scorer with another reader: ``model``, which is used up."""
        placement = place(on_cpu=self.manifest.precision)
        tokenizer = Tokenizer.from_file(str(self.words / "tokenizer.json"))
        placed = model.to(placement.device).to(placement.dtype).eval()
        reader = Reader(placed, tokenizer, max_length=self.manifest.max_length, placement=placement)
        return DefaultScorer(self.manifest, reader, claims=forest_of(self.folder))

    @property
    def is_packaged(self) -> bool:
        """Whether the words are those of the scorer that ships, which no copy needs to bring."""
        try:
            shipped = reader_base_digest(folders.DEFAULT_MODEL)
        except ModelError:
            return False
        return shipped == reader_base_digest(self.words)

    @property
    def stack(self) -> Stack:
        """Its coefficients, those fitted with packs among them. Raises `ModelError` where they are
        absent or malformed."""
        Stack.of(self.manifest)
        return Stack.model_validate(self.manifest.stack)

    def model(self) -> ReaderModel:
        """Its reader, ready to be trained."""
        return trainable(load_reader(self.folder, self.words))

    def manifest_of(self, folder: Path, name: str, sources: tuple[str, ...]) -> ScorerManifest:
        """What a scorer in ``folder`` that was trained from this one says of itself, before stack
        and thresholds are fitted; brings the words where the package does not have them.

        A calibration is not kept: it is of other scores. The thresholds are those for scores
        without it.
        """
        if not self.is_packaged:
            for file in BASE_FILES:
                shutil.copyfile(self.words / file, folder / file)
        if (self.folder / CLAIMS_FILE).is_file():
            shutil.copyfile(self.folder / CLAIMS_FILE, folder / CLAIMS_FILE)
        return ScorerManifest(
            name=name,
            kind="reader",
            base=PACKAGED_BASE if self.is_packaged else None,
            base_digest=reader_base_digest(self.words),
            labels=0,
            max_length=self.manifest.max_length,
            precision=self.manifest.precision,
            stack=self.manifest.stack,
            thresholds=carried_over(self.manifest.thresholds, self.manifest.calibration, None),
            languages=self.manifest.languages,
            others=self.manifest.others,
            trained_on=tuple(dict.fromkeys((*self.manifest.trained_on, *sources))),
        )

    def copy_reader(self, folder: Path) -> None:
        """Its reader as it is; a link would be overwritten together with the copy."""
        shutil.copyfile(self.folder / READER_FILE, folder / READER_FILE)


def starting_point(base: str | Path, pairs: Sequence[LabelledPair] = ()) -> StartingPoint:
    """Resolve "default", or the folder of a scorer with a reader.

    "default" is the reader that serves most of ``pairs`` by their language; what is trained from it
    leaves the other languages to the other reader. Raises `ModelError` where there is no such
    scorer, it was altered, or it has no reader to train."""
    others = None
    if ScorerSpec.parse(base).values == PACKAGED_BASE:
        base, others = serving([pair.pair for pair in pairs])
    folder, manifest = folders.open_manifest(base)
    if others:
        manifest = manifest.model_copy(update={"others": others})
    if manifest.kind != "reader":
        raise ModelError(
            f"{base} is a cross-encoder: only scorers with a reader are trained; start from "
            f"{PACKAGED_BASE!r} or from a scorer trained from it"
        )
    words = folders.DEFAULT_MODEL if manifest.base == PACKAGED_BASE else folder
    return StartingPoint(folder, manifest, words)


def encoder_base(base: str | Path) -> Path | None:
    """The folder of ``base`` where it holds an encoder to be fine-tuned: as transformers writes it,
    or a scorer of kind "encoder"; None where it is a scorer with a reader. Raises `ModelError`
    where there is no such folder or hub id, or its files were altered."""
    if str(base) in folders.NAMES:
        return None
    folder = named_folder(str(base))
    if (folder / MANIFEST_NAME).exists():
        return folder if ScorerManifest.load(folder).kind == "encoder" else None
    return folder


def training_tokenizer(words: Path) -> PreTrainedTokenizerFast:
    """The vocabulary in ``words`` as training uses it. Raises `ModelError` where it is missing."""
    try:
        made = Tokenizer.from_file(str(words / "tokenizer.json"))
    except Exception as error:  # the library raises Exception itself
        raise ModelError(f"{words}: cannot read its tokenizer.json") from error
    wrapped: Any = PreTrainedTokenizerFast  # transformers types it by half
    tokenizer: PreTrainedTokenizerFast = wrapped(tokenizer_object=made)
    return tokenizer
