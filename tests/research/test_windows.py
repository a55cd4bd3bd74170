"""Windows of whole sentences."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from research.windows import windows
from safepassage.passages.sentence_splitting import sentences

texts = st.text(st.sampled_from("ab é.\n!•-1🙂\u0301"), max_size=200)
prose = st.lists(
    st.sampled_from(["The rent is 900.", "It began in May.", "Ms. Roe left!", "Why?"]), max_size=30
).map(" ".join)


@given(st.lists(texts, max_size=3), st.integers(1, 80), st.integers(0, 3))
def test_every_letter_of_the_context_stands_in_a_window_and_no_window_is_too_long(
    context, room, overlap
):
    made = windows(context, room, overlap=overlap)
    covered = {(w.passage, at) for w in made for at in range(w.start, w.end)}
    for number, text in enumerate(context):
        for start, end in sentences(text):
            missing = [at for at in range(start, end) if (number, at) not in covered]
            assert not any(text[at].strip() for at in missing)
    assert all(0 < window.end - window.start <= room for window in made)
    assert made == sorted(made, key=lambda w: (w.passage, w.start))
    assert len(set(made)) == len(made)


@given(prose, st.integers(20, 200))
def test_windows_begin_and_end_with_whole_sentences(text, room):
    edges = list(sentences(text))
    assume(all(end - start <= room for start, end in edges))
    starts, ends = {start for start, _ in edges}, {end for _, end in edges}
    assert all(w.start in starts and w.end in ends for w in windows([text], room))


def test_windows_share_a_sentence_where_it_fits_and_never_span_passages():
    context = ["Ann left. Ben came. Carol stayed there.", "Dan slept."]
    found = [context[w.passage][w.start : w.end] for w in windows(context, 31)]
    assert found == ["Ann left. Ben came.", "Ben came. Carol stayed there.", "Dan slept."]


def test_a_window_needs_room():
    with pytest.raises(ValueError, match="room"):
        windows(["a"], 0)
