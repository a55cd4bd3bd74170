"""Score, counts and span are those of full Biopython, on random and on perturbed real text."""

import gzip
import json
import random
import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from Bio.Align import PairwiseAligner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from safepassage.agents.alignment import DocumentIndex, search, sweep, traceback
from safepassage.agents.alignment.index import elided_parts
from safepassage.agents.alignment.normalisation import normalise, normalised_context

DOCUMENTS = Path(__file__).parents[2] / ".." / "shared" / "data" / "tribunal" / "documents.jsonl.gz"

ALPHABETS = {
    "two letters": "ab",
    "three letters and a blank": "abc ",
    "eight letters": "abcdefgh",
    "CJK": "難民である申請人は",
    "emoji and blanks": "😀😁🇹🇷\u200d ab",
    "more than 256 symbols": "".join(map(chr, range(0x4E00, 0x4F80))),
    "combining marks": "e\u0301\u0316é\u0327cE ",
    "line ends and blanks": "a\r\n\t b\u00a0c",
    "surrogates": "a\ud800b\udfff",
    "changing length": "ßSsﬁfİiΐ½ ",
    "folded": "“\"‘'–-\u00ad\u200b«ab",
}


def full_alignment(context, text):
    """Score D, M, L and original span by full Biopython on the normalised texts, or None."""
    document = normalise(text)
    needle = normalise(context).text.strip()
    aligner = PairwiseAligner(mode="local", match_score=2, mismatch_score=-2)
    aligner.open_gap_score, aligner.extend_gap_score = -1.5, -0.5
    if not needle or not document.text:
        return None
    try:
        found = aligner.align(document.text, needle)[0]
    except IndexError:
        return None
    of_document, of_context = found.coordinates.tolist()
    matches = length = 0
    for (a, b), (c, d) in zip(pairwise(of_document), pairwise(of_context), strict=True):
        length += max(b - a, d - c)
        pairs = zip(document.text[a:b], needle[c:d], strict=True) if b - a == d - c else ()
        matches += sum(x == y for x, y in pairs)
    unaligned = len(needle) - (of_context[-1] - of_context[0])
    score = matches / (length + unaligned)
    return score, matches, length, document.original(of_document[0], of_document[-1])


def assert_as_full(index, context):
    """What the index says is what full Biopython says."""
    found = index.align(context)
    expected = full_alignment(context, index.text)
    if expected is None:
        assert (found.score, found.matches, found.length, found.spans) == (0.0, 0, 0, ())
        return
    score, matches, length, span = expected
    assert (found.score, found.matches, found.length) == (score, matches, length)
    if found.route == "verbatim":  # preferred to an earlier one in other case or spacing
        assert found.spans[0].text == context.strip()
    else:
        assert (found.spans[0].start, found.spans[0].end) == span


@st.composite
def cases(draw, alphabet):
    """A document, and a context that is random or a copy of a part with a few edits."""
    letters = st.sampled_from(alphabet)
    text = "".join(draw(st.lists(letters, max_size=90)))
    if draw(st.booleans()):
        return text, "".join(draw(st.lists(letters, max_size=30)))
    start = draw(st.integers(0, max(0, len(text) - 1)))
    context = list(text[start : start + draw(st.integers(1, 45))])
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(context)))
        context[place : place + draw(st.integers(0, 3))] = draw(st.lists(letters, max_size=3))
    return text, "".join(context)


@pytest.fixture
def small_steps(monkeypatch):
    """Make short texts take every way: certified windows, several blocks, the walk back."""
    monkeypatch.setattr(search, "BIOPYTHON_WIDTH", 12)
    monkeypatch.setattr(traceback, "BIOPYTHON_WIDTH", 12)
    monkeypatch.setattr(sweep, "_BLOCK", 25)
    monkeypatch.setattr(sweep, "_OVERLAP", 1)


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_random_texts(alphabet, small_steps):
    """200 random cases an alphabet: 2,200 in all."""
    seen = set()

    @settings(
        max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(cases(alphabet))
    def check(case):
        text, context = case
        assert_as_full(DocumentIndex(text), context)
        seen.add(DocumentIndex(text).align(context).route)

    check()
    assert {"full", "verbatim"} <= seen


def perturbed(context, rng):
    """A genuine context as an LLM or a scanner might have written it."""
    kind = rng.randrange(6)
    if kind == 0:
        return "".join(c for c in context if rng.random() > 0.04)
    if kind == 1:
        return "".join(c if rng.random() > 0.1 else rng.choice("eaoil1 ") for c in context)
    if kind == 2:
        return re.sub(r" ", lambda _: rng.choice([" ", "  ", "\n", ""]), context).upper()
    words = context.split()
    if kind == 3:
        rng.shuffle(words)
    elif kind == 4:
        del words[len(words) // 3 : len(words) // 2]
    else:
        words[len(words) // 2 : len(words) // 2] = ["and", "furthermore", "also"]
    return unicodedata.normalize("NFD", " ".join(words))


def real_contexts(count, length_limit):
    """Documents with perturbed contexts of theirs, and every tenth time of another document."""
    if not DOCUMENTS.exists():
        pytest.skip("../shared/data is absent")
    with gzip.open(DOCUMENTS, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"][:length_limit] for line in lines][:100]
    rng = random.Random(11)
    for number in range(count + count // 20):
        text = texts[number % len(texts)]
        source = rng.choice(texts) if number % 10 == 0 else text
        start = rng.randrange(max(1, len(source) - 150))
        context = perturbed(source[start : start + rng.randint(12, 140)], rng)
        if len(elided_parts(normalised_context(context))) == 1:  # else aligned part by part
            yield text, context


def test_perturbed_real_contexts():
    """500 contexts of real decisions, cut to 4,000 characters for the sake of the reference."""
    indexes = {}
    for text, context in real_contexts(500, 4_000):
        assert_as_full(indexes.setdefault(text, DocumentIndex(text)), context)


@pytest.mark.long
@pytest.mark.timeout(3600)  # full Biopython takes two minutes of CPU here
def test_perturbed_real_contexts_in_whole_documents():
    """1,000 contexts of real decisions of up to 100,000 characters."""
    indexes = {}
    for text, context in real_contexts(1_000, None):
        assert_as_full(indexes.setdefault(text, DocumentIndex(text)), context)
