"""Relations as questions: who answers them, and who does not."""

from __future__ import annotations

import pytest

from recipes.relation_questions import (
    relation_names,
    relation_questions,
)

TEXT = "Ada directed Heat . Ben was born in Leith and died in Turin ."


def entity(number: int, kind: str, name: str, sentence: int) -> dict[str, object]:
    start = TEXT.index(name)
    mention = {"start": start, "end": start + len(name), "sent": sentence}
    return {"id": number, "type": kind, "name": name, "mentions": [mention]}


DOCUMENT = {
    "id": "d",
    "text": TEXT,
    "sent_offsets": [[0, 19], [20, len(TEXT)]],
    "entities": [
        entity(0, "PER", "Ada", 0),
        entity(1, "MISC", "Heat", 0),
        entity(2, "PER", "Ben", 1),
        entity(3, "LOC", "Leith", 1),
        entity(4, "LOC", "Turin", 1),
    ],
    "relations": [
        {"r": "P57", "h": 1, "t": 0},
        {"r": "P19", "h": 2, "t": 3},
        {"r": "P20", "h": 2, "t": 4},
        {"r": "P9999", "h": 2, "t": 4},
    ],
}


@pytest.fixture(scope="module")
def asked():
    rows = [DOCUMENT] * 200
    return list(relation_questions(rows, 0))


def told(question):
    places = question.passage
    return (
        {places[a:b] for a, b in question.answers},
        {places[a:b] for a, b in question.wrong},
    )


def test_the_other_places_of_the_sentence_are_wrong(asked):
    """The place of death is no place of birth."""
    births = [q for q in asked if q.asked[0].lower() in ("place of birth of ben", "birthplace")]
    assert births
    for question in births:
        right, wrong = told(question)
        assert right == {"Leith"}
        assert "Turin" in wrong


def test_a_relation_that_does_not_hold_has_no_answer(asked):
    nothing = [q for q in asked if not q.answers]
    assert nothing
    assert all(q.wrong for q in nothing)


def test_relations_without_a_name_are_not_asked(asked):
    assert not any("P9999" in form for question in asked for form in question.asked)


def test_every_answer_is_a_place_in_the_passage(asked):
    for question in asked:
        for start, end in (*question.answers, *question.wrong):
            assert question.passage[start:end] in {"Ada", "Heat", "Ben", "Leith", "Turin"}
        assert not set(question.answers) & set(question.wrong)


def test_every_relation_can_be_asked_for():
    for code, name in relation_names().items():
        assert code[0] == "P"
        assert all(name.names)
        assert "{h}" in name.question
        assert name.tail in {"PER", "ORG", "LOC", "TIME", "MISC"}
