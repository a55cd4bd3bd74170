"""The questions that every training asks beside its labels."""

import gzip

from recipes.rehearsal import QUESTIONS, rows
from safepassage.scoring_worker.training.reading.rehearsal import REHEARSAL_FILE, rehearsed


def test_the_file_is_what_the_recipe_writes():
    assert gzip.decompress(REHEARSAL_FILE.read_bytes()) == rows()


def test_more_questions_than_the_file_has_are_asked_twice():
    made = rehearsed(QUESTIONS + 10, 0)
    assert len(made) == QUESTIONS + 10
    assert len({repr(question) for question in made[:QUESTIONS]}) > QUESTIONS - 20
