"""A file that grows: what was whole before a run was killed is read, and so is what comes after."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from research.kept_lines import KeptLines
from safepassage.schemas import Contract


class Word(Contract):
    """A line of the tests."""

    word: str
    times: int = 1


FIRST, SECOND, THIRD = Word(word="first\nof two"), Word(word="zweites: ü"), Word(word="")


def _kept(path: Path | None) -> KeptLines[Word]:
    return KeptLines(path, Word)


def test_several_adds_are_read_in_their_order_and_the_folder_is_made(tmp_path):
    path = tmp_path / "not" / "yet" / "words.jsonl"
    kept = _kept(path)
    assert kept.read() == []
    kept.add([FIRST, SECOND])
    kept.add([])
    kept.add([THIRD])
    assert kept.read() == _kept(path).read() == [FIRST, SECOND, THIRD]
    assert path.read_bytes().count(b"\n") == 3


def test_without_a_path_nothing_is_kept():
    kept = _kept(None)
    kept.add([FIRST])
    assert kept.read() == []


def test_behind_a_torn_line_a_line_of_its_own_begins(tmp_path):
    path = tmp_path / "words.jsonl"
    _kept(path).add([FIRST, SECOND])
    path.write_bytes(path.read_bytes()[:-5])
    _kept(path).add([THIRD])
    assert _kept(path).read() == [FIRST, THIRD]


def test_garbage_in_the_middle_is_counted_and_nothing_of_it_is_told(tmp_path):
    path = tmp_path / "words.jsonl"
    kept = _kept(path)
    kept.add([FIRST])
    with path.open("ab") as file:
        file.write(b'{"word": "a secret", "colour": 1}\n\xff\x00secret\n\n')
    kept.add([SECOND])
    with capture_logs() as logs:
        assert kept.read() == [FIRST, SECOND]
    [told] = logs
    assert (told["event"], told["file"], told["lines"]) == (
        "kept_lines_unreadable", "words.jsonl", 2,
    )  # fmt: skip
    assert "secret" not in str(told)


def test_threads_may_add_at_once(tmp_path):
    kept = _kept(tmp_path / "words.jsonl")
    words = [Word(word="x" * 5_000, times=at) for at in range(64)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda word: kept.add([word]), words))
    assert sorted(kept.read(), key=lambda word: word.times) == words


lists_of_words = st.lists(
    st.builds(Word, word=st.text(max_size=12), times=st.integers(0, 99)), max_size=4
)


@given(lists_of_words, lists_of_words, st.data())
def test_wherever_a_run_was_killed_whole_lines_are_read_and_so_is_what_is_added(
    before, after, data
):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.jsonl"
        _kept(path).add(before)
        raw = path.read_bytes()
        cut = data.draw(st.integers(0, len(raw)))
        path.write_bytes(raw[:cut])
        ends = [at for at, byte in enumerate(raw) if byte == ord("\n")]
        whole = before[: sum(end <= cut for end in ends)]  # its end itself may be missing
        kept = _kept(path)
        assert kept.read() == whole
        kept.add(after)
        assert kept.read() == whole + after
