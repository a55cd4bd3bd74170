"""Normalised text with an exact map back to the code points it came from.

Form: NFKC, casefold, every run of blanks one space, typographic quotes and dashes folded to
ASCII, soft hyphens and zero-width characters dropped, lone surrogates U+FFFD. Raw text costs
.018 AUC of the alignment score (docs/concepts/alignment.md).

Nearly all characters map to one character regardless of what is beside them, so they go through a
lookup table filled page by page. Only *clusters* (characters that expand, and characters that
may compose with their predecessor) are normalised one by one.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int32]

SPACE = ord(" ")
# What the table says instead of a code point. The order lets one minimum tell which occur.
_DROPPED = -1
_CLUSTERED = -2
_UNFILLED = -3
_PAGE = 256
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Unicode's Stream-Safe Text Format allows 30 marks on a base. Composing is quadratic in the
# length of a run of marks, so a longer one (only ever an attack) is normalised in pieces.
_MAX_MARKS = 30

# One character becomes up to 18 (U+FDFA). No text is made of such characters, only attacks are.
_MAX_EXPANSION = 4
_SLACK = 100
# Characters taken at a time, which bounds the memory that clusters take.
_CHUNK = 1 << 16

_FOLDS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛‹›′‵`´", "'"),
        **dict.fromkeys("“”„‟«»″‶〝〞", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
    }
)
_ZERO_WIDTH = frozenset(
    map(
        chr,
        (
            0xAD,  # soft hyphen
            *(0x34F, 0x61C, 0x180E, 0xFEFF),
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
        ),
    )
)
_SURROGATES = re.compile("[\ud800-\udfff]")


class ExpansionError(ValueError):
    """A text that would grow by more than any real text does."""


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """Normalised text; character ``i`` came from ``starts[i]`` to ``ends[i]`` of the original."""

    text: str
    codes: Codes
    starts: Offsets
    ends: Offsets

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The original code points of the normalised characters ``start`` to ``end`` (> start)."""
        return int(self.starts[start]), int(self.ends[end - 1])

    def position(self, original: int) -> int:
        """The first normalised character that starts at or after an original code point."""
        return int(np.searchsorted(self.starts, original))


def normalise(text: str) -> NormalisedText:
    """Normalise ``text`` of any content and length, in time and memory linear in its length. Raises
    `ExpansionError` where it would grow to more than four times its length."""
    pieces = [_folded(text[start:end], start) for start, end in _chunks(text)]
    if len(pieces) == 1:
        return _collapse(*pieces[0])
    folded, starts, ends = map(np.concatenate, zip(*pieces, strict=True))
    return _collapse(folded, starts, ends)


def code_points(text: str) -> Codes:
    """The code points of ``text``, read-only."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4")


def normalised_context(context: str) -> str:
    """The normalised form of ``context``, without blanks at its ends."""
    if context.isascii():
        return " ".join(context.split()).casefold().replace("`", "'")
    return normalise(context).text.strip(" ")


def _collapse(folded: Codes, starts: Offsets, ends: Offsets) -> NormalisedText:
    """Leave out dropped characters and all but the first blank of each run."""
    if folded.min(initial=0) < 0:
        kept = folded != _DROPPED
        folded, starts, ends = folded[kept], starts[kept], ends[kept]
    blank = folded == SPACE
    again = np.flatnonzero(blank[1:] & blank[:-1]) + 1
    if len(again):
        lasts = np.flatnonzero(np.diff(again, append=-1) != 1)
        # A run's first blank, of which as many precede as are not left out, ends with its last.
        run_ends = ends[again[lasts]]
        kept = np.ones(len(folded), dtype=np.bool_)
        kept[again] = False
        folded, starts, ends = folded[kept], starts[kept], ends[kept]
        ends[again[lasts] - lasts - 1] = run_ends
    return NormalisedText(_text(folded), folded, starts, ends)


def _text(codes: Codes) -> str:
    if codes.max(initial=0) < 256:  # as in most texts by now; this takes a third of the time
        return codes.astype(np.uint8).tobytes().decode("latin-1")
    return codes.tobytes().decode("utf-32-le")


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of a bounded size that no cluster straddles; one empty range for an empty text."""
    start = 0
    while start < len(text) or not start:
        end = start + _CHUNK
        while end < len(text) and joins(text[end]):
            end += 1
        yield start, min(end, len(text))
        start = end


def _folded(text: str, offset: int) -> tuple[Codes, Offsets, Offsets]:
    """The folded characters of a chunk that begins at ``offset``, before blanks collapse."""
    folded = _TABLE.fold(code_points(text))
    starts = np.arange(offset, offset + len(text), dtype=np.int32)
    if folded.min(initial=0) > _CLUSTERED:
        return folded, starts, starts + np.int32(1)
    clustered = np.flatnonzero(folded == _CLUSTERED).tolist()
    return _spliced(text, folded, starts, _clusters(text, clustered))


def _spliced(
    text: str, folded: Codes, origins: Offsets, clusters: list[tuple[int, int]]
) -> tuple[Codes, Offsets, Offsets]:
    """Replace each cluster by its expansion, whose characters map to what they came from."""
    expansions = [_expansion(text[start:end]) for start, end in clusters]
    if sum(map(len, expansions)) > _MAX_EXPANSION * len(text) + _SLACK:
        raise ExpansionError("the normalised text would be several times as long")
    counts = np.ones(len(folded), dtype=np.intp)
    inserted: list[int] = []
    growth = 0
    for (start, end), expansion in zip(clusters, expansions, strict=True):
        counts[start:end] = 0
        counts[start] = len(expansion)
        inserted += range(start + growth, start + growth + len(expansion))
        growth += len(expansion) - (end - start)
    starts = np.repeat(origins, counts)
    spliced = folded.take(starts - origins[0])
    ends = starts + np.int32(1)
    pieces = np.array([piece for expansion in expansions for piece in expansion], dtype=np.int32)
    values, first, last = pieces.reshape(-1, 3).T
    # np.repeat gave each of these the cluster's own start, to which the expansion is relative.
    spliced[inserted] = values
    ends[inserted] = starts[inserted] + last
    starts[inserted] += first
    return spliced, starts, ends


def _clusters(text: str, marked: list[int]) -> list[tuple[int, int]]:
    """Ranges of ``text`` that are normalised together: a character and what may join it."""
    clusters: list[tuple[int, int]] = []
    for position in marked:
        joining = joins(text[position])
        if clusters and position < clusters[-1][1]:
            continue
        if joining and clusters and clusters[-1][1] == position and _has_room(clusters[-1]):
            clusters[-1] = (clusters[-1][0], position + 1)
        elif joining and position and (not clusters or clusters[-1][1] < position):
            clusters.append((position - 1, position + 1))
        else:
            clusters.append((position, position + 1))
    return clusters


def _has_room(cluster: tuple[int, int]) -> bool:
    return cluster[1] - cluster[0] <= _MAX_MARKS


@lru_cache(maxsize=4096)
def _expansion(cluster: str) -> tuple[tuple[int, int, int], ...]:
    """The folded characters of a cluster, and from where to where in it each came."""
    whole = _fold(cluster)
    separate = [_fold(character) for character in cluster]
    if "".join(separate) == whole:  # nothing composed: the finer map
        return tuple(
            (ord(character), i, i + 1) for i, folded in enumerate(separate) for character in folded
        )
    return tuple((ord(character), 0, len(cluster)) for character in whole)


def _fold(cluster: str) -> str:
    """The definition itself, for a few characters: everything but collapsing runs of blanks."""
    folded = cluster.translate(_FOLDS)
    folded = unicodedata.normalize("NFKC", _SURROGATES.sub(_REPLACEMENT, folded)).casefold()
    return "".join(
        " " if character.isspace() else character
        for character in folded.translate(_FOLDS)
        if character not in _ZERO_WIDTH
    )


@lru_cache(maxsize=4096)
def joins(character: str) -> bool:
    """Whether ``character`` may compose with, or be reordered against, what precedes it.

    True for all marks, for Hangul vowels and final consonants, and for the compatibility forms
    of both (halfwidth kana marks and jamo). A superset is harmless: clusters only get longer.
    No character at all joins nothing.
    """
    if character < "\u0300" or _SURROGATES.match(character):
        return False
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


class _Table:
    """Code point to folded code point or one of the marks above; filled 256 at a time."""

    def __init__(self) -> None:
        self._folded = np.full(0x110000, _UNFILLED, dtype=np.int32)

    def fold(self, codes: Codes) -> Codes:
        """A fresh array of the folded ``codes``."""
        folded = self._folded.take(codes)
        if folded.min(initial=0) == _UNFILLED:
            for page in np.unique(codes[folded == _UNFILLED] // _PAGE).tolist():
                self._fill(page)
            folded = self._folded.take(codes)
        return folded

    def _fill(self, page: int) -> None:
        # Two threads may fill a page at once: both write the same values.
        first = page * _PAGE
        self._folded[first : first + _PAGE] = [_entry(chr(first + i)) for i in range(_PAGE)]


def _entry(character: str) -> int:
    folded = _fold(character)
    if joins(character) or len(folded) > 1:
        return _CLUSTERED
    return ord(folded) if folded else _DROPPED


_TABLE = _Table()
