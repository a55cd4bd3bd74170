"""The words by which texts are compared, and those of a claim that no passage has."""

from hypothesis import given
from hypothesis import strategies as st

from safepassage.passages.retrieval import Retriever
from safepassage.passages.words import content_words, placed_words

texts = st.text(st.sampled_from("ab sß é.,\n19🙂\u0301"), max_size=80)


@given(texts)
def test_words_stand_where_they_say_and_in_order(text: str) -> None:
    words = placed_words(text)
    assert [word.stem for word in words] == content_words(text)
    assert all(text[word.start : word.end] for word in words)
    ends = [0, *(word.end for word in words)]
    assert all(end <= word.start for end, word in zip(ends, words, strict=False))


@given(st.lists(texts, max_size=3), texts)
def test_a_word_is_absent_where_no_passage_has_it_and_nowhere_else(
    context: list[str], claim: str
) -> None:
    known = {word for text in context for word in content_words(text)}
    absent = Retriever(context).absent(claim)
    for word in placed_words(claim):
        assert ((word.start, word.end) in absent) == (word.stem not in known)


def test_another_form_of_a_word_and_stop_words_are_not_absent():
    context = ["The rents were raised.", "In May 2019."]
    claim = "The landlord is raising the rent in 2018."
    places = Retriever(context).absent(claim)
    assert [claim[start:end] for start, end in places] == ["landlord", "2018"]


def test_where_no_blanks_stand_each_character_is_a_word() -> None:
    assert content_words("会議は3月5日。") == ["会", "議", "は", "3", "月", "5", "日"]
    assert content_words("ประชุม 5 คน")[-1] == "น"
    assert content_words("회의는 열렸다") == ["회의는", "열렸다"]
