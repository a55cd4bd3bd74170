"""Model folders: the verified manifest of a scorer, its weights, and what they make.

No code of a model is ever run (``trust_remote_code`` stays off, pickles are read as weights only):
a model file is untrusted input like any other.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from safepassage.llm_calls.settings import DecisionSettings
from safepassage.scoring_worker.encoders.devices import DeviceChoice, PrecisionChoice, place
from safepassage.scoring_worker.encoders.published import ROWS, head_of
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.encoders.reader_model import reader_base_digest, stored_reader
from safepassage.scoring_worker.encoders.weight_folders import base_folder
from safepassage.scoring_worker.manifest import (
    MANIFEST_NAME,
    PACKAGED_BASE,
    ModelError,
    ScorerManifest,
)
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.scorer import Scorer
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.scoring_worker.weighing.claim_support import forest_of

from .installed_models import installed_model, is_installed

DEFAULT_MODEL = Path(__file__).parents[1] / "models" / "default"
DECISIONS = ("decisions", "cascade-decisions")
LLMS = ("llm", "bespoke-minicheck", "granite-guardian-3.3", "granite-guardian-4.1")
"""Asked over the endpoint of the grader; see `llm_forms`."""
NAMES = (
    *("default", "small", "large", "words", "hhem", "nli", "cascade", "cascade-large"),
    *(*LLMS, *DECISIONS),
)
"""The scorers with a name; anything else is a local folder or a hub id."""

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@[A-Za-z0-9][\w.-]*)?")


def open_manifest(name_or_path: str | Path) -> tuple[Path, ScorerManifest]:
    """The folder of "small", "large", a path or a hub id, and its verified manifest. "default" has
    two readers; here it is the small one.

    A folder as transformers writes it gets one: threshold .5, and the label whose name says yes.
    What `encoders.published` says of a hub id counts instead, and of "ROW=FOLDER" its row. Raises
    `ModelError` where there is no such folder, or it is incomplete or altered."""
    named = ScorerSpec.parse(name_or_path).values
    row, mark, rest = named.partition("=")
    by_row = bool(mark) and not Path(named).expanduser().is_dir()
    if by_row and row not in ROWS:
        raise ModelError(f"no layout {row!r} for {rest}: there are {', '.join(ROWS)}")
    name_or_path = rest if by_row else named
    folder = _folder(name_or_path)
    if (folder / MANIFEST_NAME).exists():
        return folder, ScorerManifest.load(folder)
    if name_or_path in DECISIONS:
        from .decisions import decision_manifest  # noqa: PLC0415 (openai is slow to import)

        return folder, decision_manifest(DecisionSettings(), name_or_path)
    from .cross_encoders import manifest_of  # noqa: PLC0415 (brings transformers)

    given = Path(name_or_path).expanduser()
    name = given.resolve().name if given.is_dir() else str(name_or_path)
    head = ROWS[row] if by_row else None if given.is_dir() else head_of(name)
    return folder, manifest_of(folder, name, head)


def load_folder(
    folder: Path,
    manifest: ScorerManifest,
    *,
    device: DeviceChoice = "auto",
    precision: PrecisionChoice = "auto",
    packs: Sequence[Pack] = (),
) -> Scorer:
    """The scorer that ``manifest`` describes over the files of ``folder``, with ``packs``; of a
    cascade the second, which is asked. Raises `ModelError` where the weights do not fit the
    manifest."""
    if manifest.kind == "encoder":
        from .cross_encoders import EncoderScorer, load_encoder  # noqa: PLC0415 (transformers)

        encoder = load_encoder(manifest, folder, device=device, precision=precision)
        return EncoderScorer(manifest, encoder)
    if manifest.kind in ("decisions", "cascade"):
        from .decisions import DecisionScorer  # noqa: PLC0415 (openai is slow to import)

        return DecisionScorer(DecisionSettings(), manifest)
    from .default import DefaultScorer  # noqa: PLC0415 (its libraries are its own)

    reader = open_reader(manifest, folder, device=device, precision=precision)
    return DefaultScorer(manifest, reader, packs, claims=forest_of(folder))


def open_reader(
    manifest: ScorerManifest,
    folder: Path,
    *,
    words: Path | None = None,
    device: DeviceChoice = "auto",
    precision: PrecisionChoice = "auto",
) -> Reader:
    """The reader of a verified model directory. Its words, vocabulary and shape may lie in the
    folder ``words``, before the directory is complete. Raises `ModelError`: weights, words or
    vocabulary are missing, altered or do not fit each other."""
    placement = place(device, precision, on_cpu=manifest.precision)
    if manifest.base not in (None, PACKAGED_BASE):
        raise ModelError(f"{manifest.name}: a reader cannot rest on {manifest.base!r}")
    base = words or (folder if manifest.base is None else DEFAULT_MODEL)
    if manifest.base_digest is not None and reader_base_digest(base) != manifest.base_digest:
        raise ModelError(
            f"{manifest.name}: the words of its base are not those it was trained on; install "
            "the version of safepassage that it was trained with"
        )
    model = stored_reader(folder, base)
    try:
        tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    except Exception as error:  # the library raises Exception itself
        raise ModelError(f"{base}: cannot read its tokenizer.json") from error
    # What was learnt from documents is kept in its own folder alone, where erasing finds it.
    shipped = [DEFAULT_MODEL, *([installed_model("large")] if is_installed("large") else [])]
    identity = f"{manifest.revision} {manifest.base_digest}" if folder in shipped else None
    return Reader(
        model, tokenizer, max_length=manifest.max_length, placement=placement, identity=identity
    )


def _folder(name: str) -> Path:
    if name in ("default", "small"):
        return DEFAULT_MODEL
    if name in DECISIONS:
        return DEFAULT_MODEL.parent / "decisions"
    if name == "large":
        return installed_model(name)
    path = Path(name).expanduser()
    if name and path.is_dir():
        return path
    if path.is_file():
        raise ModelError(f"{name} is a file; give the folder that holds the model")
    if _HUB_ID.fullmatch(name):
        return base_folder(name, None)
    if name in NAMES:
        raise ModelError(
            f"{name!r} has no folder of which a copy could be calibrated or trained; give "
            "'default', a folder or a hub id"
        )
    raise ModelError(
        f"no scorer {name!r}: it is no folder, no hub id (owner/name), and none of "
        + ", ".join(NAMES)
    )
