"""Graphs by an encoder-decoder that was taught to write the triples of a text, as REBEL was.

REBEL (Huguet Cabot and Navigli 2021) writes "<triplet> subject <subj> object <obj> relation", and
further objects of a subject behind "<subj>". What it writes of a passage counts where it is
there; a text that has no room, or whose triples have none, gives no graph.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import torch

from safepassage.schemas import stable_id
from safepassage.schemas.evidence import MAX_TRIPLE_CHARACTERS
from safepassage.scoring_worker.detectors.contract import Answer, Detector, DetectorSettings
from safepassage.scoring_worker.detectors.hallugraph.detector import HalluGraph
from safepassage.scoring_worker.detectors.hallugraph.graph import QUERY, Graphs, NoGraph
from safepassage.scoring_worker.encoders.devices import place
from safepassage.scoring_worker.encoders.weight_folders import base_digest, named_folder
from safepassage.scoring_worker.encoders.weights import (
    load_config,
    load_full,
    load_tokenizer,
    longest_input,
)
from safepassage.scoring_worker.manifest import ModelError

from .stated_graphs import (
    MAX_LISTED,
    Piece,
    StatedGraph,
    StatedTriple,
    drawn,
    held,
    joined,
    pieces_of,
)

PIECE_CHARACTERS: Final = 600
"""A paragraph: of longer texts such models write the first triples alone."""
MAX_PIECES: Final = 200
TOGETHER: Final = 8
NEW_TOKENS: Final = 256
BEAMS: Final = 3
"""As REBEL's authors generate."""

_MARKS: Final = re.compile(r"(<triplet>|<subj>|<obj>)")


def stated_triples(written: str) -> StatedGraph:
    """The triples of what a model of REBEL's kind wrote, each once. What is no triple, or longer
    than one may be, is left out."""
    found: dict[tuple[str, str, str], StatedTriple] = {}
    subject = target = ""
    parts = _MARKS.split(written)
    for mark, text in zip(parts[1::2], parts[2::2], strict=True):
        words = " ".join(text.split())
        if mark == "<triplet>":
            subject, target = words, ""
        elif mark == "<subj>":
            target = words
        elif words and subject and target:
            triple = (subject, words, target)
            if max(map(len, triple)) <= MAX_TRIPLE_CHARACTERS:
                found[triple] = StatedTriple(subject=subject, relation=words, object=target)
    return StatedGraph(entities=(), triples=tuple(found.values())[:MAX_LISTED])


class Seq2SeqExtractor:
    """Asks ``model`` for the triples of every piece of answer, passages and query."""

    def __init__(self, model: Any, tokenizer: Any, *, longest: int, revision: str) -> None:
        self.revision = revision
        self._model = model
        self._tokenizer = tokenizer
        self._longest = longest
        special = {*tokenizer.all_special_tokens, "<triplet>", "<subj>", "<obj>"}
        self._special = re.compile("|".join(map(re.escape, sorted(special, key=len, reverse=True))))
        unmarked = [token for token in special if not _MARKS.fullmatch(token)]
        self._plain = re.compile("|".join(map(re.escape, unmarked)) or r"(?!)")

    def graphs(self, answers: Sequence[Answer]) -> list[Graphs | NoGraph]:
        """The graphs of each answer, in order."""
        return [self._graphs(answer) for answer in answers]

    def close(self) -> None:
        """Nothing is held open."""

    def _graphs(self, answer: Answer) -> Graphs | NoGraph:
        own = pieces_of((answer.response,), PIECE_CHARACTERS)
        known = pieces_of(answer.context, PIECE_CHARACTERS)
        if answer.query.strip():
            asked = pieces_of((answer.query,), PIECE_CHARACTERS)
            known += [replace(piece, passage=QUERY) for piece in asked]
        if len(own) + len(known) > MAX_PIECES:
            return NoGraph("texts_too_long")
        try:
            stated = list(self._stated([*own, *known]))
        except NoGraph as error:
            return error
        answered = [drawn(graph, piece) for graph, piece in zip(stated, own, strict=False)]
        reference = zip(stated[len(own) :], known, strict=True)
        return Graphs(joined(answered), joined(held(graph, piece) for graph, piece in reference))

    def _stated(self, pieces: Sequence[Piece]) -> Iterator[StatedGraph]:
        for start in range(0, len(pieces), TOGETHER):
            texts = [piece.text for piece in pieces[start : start + TOGETHER]]
            yield from map(stated_triples, self._written(texts))

    @torch.inference_mode()
    def _written(self, texts: Sequence[str]) -> list[str]:
        """What the model writes of each text.

        Raises:
            NoGraph: a text is too long for it, or it came to no end.
        """
        # A mark in a text would be read as one: an answer could hide its triples behind it.
        clean = [self._special.sub(" ", text) for text in texts]
        asked = self._tokenizer(clean, padding=True, return_tensors="pt")
        if asked["input_ids"].shape[1] > self._longest:
            raise NoGraph("texts_too_long")
        tokens = self._model.generate(
            input_ids=asked["input_ids"].to(self._model.device),
            attention_mask=asked["attention_mask"].to(self._model.device),
            max_new_tokens=NEW_TOKENS,
            num_beams=BEAMS,
            do_sample=False,
            length_penalty=0.0,
        )
        end = self._tokenizer.eos_token_id
        if not bool((tokens[:, 1:] == end).any(dim=1).all()):
            raise NoGraph("too_many_triples")
        said: list[str] = self._tokenizer.batch_decode(tokens, skip_special_tokens=False)
        return [self._plain.sub(" ", text) for text in said]


def load_triples(settings: DetectorSettings) -> Detector:
    """HalluGraph over the triples of the model in the folder or under the hub id
    ``settings.model``, such as Babelscape/rebel-large at a commit.

    Raises:
        ModelError: there is no such model, or its vocabulary lacks the marks of triples.
    """
    if settings.model is None:
        raise ModelError("hallugraph_triples needs a model: hallugraph_triples=FOLDER or a hub id")
    folder = named_folder(settings.model)
    tokenizer = load_tokenizer(folder, settings.model)
    known = tokenizer.get_vocab()
    absent = [mark for mark in ("<triplet>", "<subj>", "<obj>") if mark not in known]
    if absent:
        raise ModelError(f"{settings.model}: its vocabulary has no {absent[0]}, as REBEL's has")
    placement = place(settings.device, "fp32")
    model = load_full(folder, torch.float32, "seq2seq").to(placement.device)
    revision = stable_id("triples", base_digest(folder), str(PIECE_CHARACTERS), str(BEAMS))[:16]
    extractor = Seq2SeqExtractor(
        model,
        tokenizer,
        longest=longest_input(load_config(folder), tokenizer),
        revision=f"triples-{revision}",
    )
    return HalluGraph("hallugraph_triples", extractor)
