"""Files of rows: everything a line may be besides a row."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import BadLine, Document, LabelledExtraction, read_jsonl
from safepassage.schemas.jsonl import validation_summary

GOOD = b'{"id":"a","text":"x"}'


def _read(tmp_path: Path, content: bytes, **options: int) -> list[Document | BadLine]:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    return list(read_jsonl(path, Document, **options))


def test_rows_come_in_order_and_blank_lines_are_skipped(tmp_path):
    rows = _read(tmp_path, GOOD + b"\n\n  \r\n" + b'{"id":"b","text":"y"}\r\n')
    assert rows == [Document(id="a", text="x"), Document(id="b", text="y")]


def test_the_last_line_needs_no_end(tmp_path):
    assert _read(tmp_path, GOOD) == [Document(id="a", text="x")]


def test_an_empty_file_has_no_rows(tmp_path):
    assert _read(tmp_path, b"") == []


def test_gzip_is_read_whatever_the_name(tmp_path):
    assert _read(tmp_path, gzip.compress(GOOD + b"\n")) == [Document(id="a", text="x")]


def test_a_pipe_is_read_as_a_file_is(tmp_path):
    for content in (GOOD, gzip.compress(GOOD)):
        out, into = os.pipe()
        os.write(into, content)
        os.close(into)
        assert list(read_jsonl(f"/dev/fd/{out}", Document)) == [Document(id="a", text="x")]
        os.close(out)


def test_gzip_members_after_each_other_are_one_file(tmp_path):
    rows = _read(tmp_path, gzip.compress(GOOD + b"\n") + gzip.compress(GOOD + b"\n"))
    assert rows == [Document(id="a", text="x")] * 2


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path):
    assert _read(tmp_path, b"\xef\xbb\xbf" + GOOD) == [Document(id="a", text="x")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id":"a","text":"\xff"}', "not UTF-8 at byte 18"),
        (b'{"id":"a","text":"\\ud800"}', "Invalid JSON: unexpected end of hex escape"),
        (b'{"id":"a","text":"x","meta":{"n":NaN}}', "meta.n"),
        (b'{"id":"a","text":"x","meta":{"n":1e999}}', "meta.n"),
        (b'{"id":"a","text":"x","colour":1}', "colour: unknown"),
        (b'{"id":"a","text":"x","version":2}', "version: Input should be 1"),
        (b'{"id":"a"}', "text: Field required"),
        (b'{"id":"a","txet":"x"}', "text: Field required; txet: unknown"),
        (b'{"id":"","text":"x"}', "id: String should have at least 1 character"),
        (b"[1]", "Input should be an object"),
        (b"null", "Input should be an object"),
        (b"not json", "Invalid JSON"),
        (b"\x00\x01\x02", "Invalid JSON"),
        (b"[" * 5000, "Invalid JSON: recursion limit exceeded"),
    ],
)
def test_a_bad_line_names_its_place_and_reason_and_the_next_row_is_read(tmp_path, line, reason):
    rows = _read(tmp_path, GOOD + b"\n" + line + b"\n" + GOOD)
    assert rows[0] == rows[2] == Document(id="a", text="x")
    bad = rows[1]
    assert isinstance(bad, BadLine)
    assert bad.raw == line
    assert reason in str(bad)
    assert str(bad).startswith(f"{tmp_path / 'rows.jsonl'}:2: ")
    assert len(str(bad).splitlines()) == 1


def test_what_a_bad_line_held_is_not_quoted(tmp_path):
    [bad] = _read(tmp_path, b'{"id":"a","text":["SECRET"],"version":"SECRET"}')
    assert "SECRET" not in str(bad)
    assert "SECRET" not in repr(bad)
    assert "(and 1 more)" in str(bad)


def test_control_characters_of_a_field_name_do_not_reach_the_terminal(tmp_path):
    [bad] = _read(tmp_path, b'{"id":"a","text":"x","\\u001b[2J\\n":1}')
    assert "\x1b" not in str(bad)
    assert len(str(bad).splitlines()) == 1


def test_a_line_that_is_too_long_is_skipped_and_not_held(tmp_path):
    long_line = b'{"id":"a","text":"' + b"x" * 20_000_000 + b'"}'
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(long_line + b"\n" + GOOD + b"\n", compresslevel=1))
    tracemalloc.start()
    rows = list(read_jsonl(path, Document, max_line_bytes=1000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(rows[0], BadLine)
    assert rows[0].reason == "longer than 1000 bytes"
    assert len(rows[0].raw) == 1000
    assert rows[1] == Document(id="a", text="x")
    assert peak < 8_000_000


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("excess", [0, 1])
def test_the_bound_counts_the_line_without_its_end(tmp_path, end, excess):
    rows = _read(tmp_path, GOOD + end, max_line_bytes=len(GOOD) - excess)
    assert [isinstance(row, BadLine) for row in rows] == [bool(excess)]


@pytest.mark.parametrize("keep", [5, 30, -9, -4])
def test_a_broken_gzip_stream_ends_in_a_bad_line(tmp_path, keep):
    rows = _read(tmp_path, gzip.compress(GOOD + b"\n")[:keep])
    assert isinstance(rows[-1], BadLine)
    assert "gzip" in rows[-1].reason


def test_a_corrupt_gzip_stream_ends_in_a_bad_line(tmp_path):
    compressed = bytearray(gzip.compress(GOOD * 100))
    compressed[14:20] = b"\xff" * 6
    [bad] = _read(tmp_path, bytes(compressed))
    assert isinstance(bad, BadLine)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_jsonl(tmp_path / "none.jsonl", Document))


def test_a_labelled_extraction_is_read_with_its_label(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"id":"e","doc_id":"d","entity_type":"T","value":{"yyyy":2012},"context":"c","label":0}'
    )
    [row] = read_jsonl(path, LabelledExtraction)
    assert isinstance(row, LabelledExtraction)
    assert (row.value, row.label) == ({"yyyy": 2012}, 0)


@given(content=st.binary(max_size=300))
def test_no_bytes_make_reading_fail(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "rows"
    path.write_bytes(content)
    assert all(isinstance(row, Document | BadLine) for row in read_jsonl(path, Document))


def test_a_summary_names_the_field_inside_nested_rows():
    with pytest.raises(ValueError, match="validation error") as caught:
        LabelledExtraction.model_validate(
            {"id": "e", "doc_id": "d", "entity_type": "T", "value": 1, "context": "c", "label": 3}
        )
    assert validation_summary(caught.value) == "label: Input should be 0 or 1"
