"""What `train` learns from: files of every kind, and an LLM's labels."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from safepassage.agents.aligner import Aligner
from safepassage.pipeline import align_with, ground
from safepassage.schemas import Assessment, Document
from safepassage.scoring_worker.evaluation.sources import DatasetError, Sources
from safepassage.streams.offline.training_labels import grade, read_labels

TEXT = "Before: Ann Lee\nCounsel: Bob Ray\nHeard on May 4, 2015\nDecided on June 8, 2015\n"


class Grader:
    """Supports what mentions Ann Lee, cannot judge what mentions Bob Ray."""

    name, revision = "grader", "1"

    def assess(self, pairs):
        return [self._one(pair) for pair in pairs]

    def _one(self, pair):
        common = {"scorer": self.name, "revision": self.revision}
        if "Bob Ray" in pair.premise:
            return Assessment(**common, failure="scorer_failed")
        return Assessment(**common, score=float("Ann Lee" in pair.premise), threshold=0.5)

    def close(self):
        pass


@pytest.fixture
def sources():
    aligner = Aligner()
    documents = {"d": Document(id="d", text=TEXT)}
    yield Sources(documents=documents, align=partial(align_with, aligner), ground=ground)
    aligner.close()


def write(path, *rows):
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def extraction(number, value, context, **more):
    """An extraction row of the document."""
    row = {"id": f"e{number}", "doc_id": "d", "entity_type": "Judge", "value": value}
    return row | {"context": context} | more


def test_extractions_become_pairs_with_their_passage(tmp_path, sources):
    """What is not found, or has no label, teaches nothing."""
    path = write(
        tmp_path / "gold.jsonl",
        extraction(1, "Ann Lee", "before ann lee", label=1, kind="natural"),
        extraction(2, "Bob Ray", "Before: Ann Lee", label=0),
        extraction(3, "Ann Lee", "a sentence of another world", label=0),
        extraction(4, "Ann Lee", "Before: Ann Lee"),
    )
    pairs, refused = read_labels(path, sources)
    assert refused == ()
    assert [(pair.premise, pair.value, pair.label, pair.group) for pair in pairs] == [
        ("Before: Ann Lee", "Ann Lee", 1, "d"),
        ("Before: Ann Lee", "Bob Ray", 0, "d"),
    ]


def test_an_answer_of_several_sentences_has_no_label_for_each(tmp_path, sources):
    """Answers of one sentence are pairs."""
    two = "The hearing was before Ann Lee. The counsel was Bob Ray."
    path = write(
        tmp_path / "answers.jsonl",
        {"id": "a", "context": TEXT, "response": two, "label": 0},
        {"id": "b", "context": TEXT, "claim": two, "label": 1},
    )
    pairs, _ = read_labels(path, sources)
    assert [(pair.group, pair.entity_type) for pair in pairs] == [("b", "Claim")]


def test_annotated_documents_become_corruptions(tmp_path, sources):
    """Their facts, and ways to get them wrong."""
    entities = [
        {"type": name, "start": TEXT.index(value), "end": TEXT.index(value) + len(value)}
        for name, value in [("Judge", "Ann Lee"), ("Decision Date", "June 8, 2015")]
    ]
    path = write(tmp_path / "ner.jsonl", {"id": "d", "text": TEXT, "entities": entities})
    pairs, _ = read_labels(path, sources)
    assert sorted(pair.label for pair in pairs) == [0, 0, 1, 1]
    assert {pair.kind for pair in pairs if pair.label} == {"annotated"}
    assert len(read_labels(path, replace(sources, seed=1))[0]) == 4


def test_a_row_that_cannot_be_read_is_told(tmp_path, sources):
    """And the others are learned from."""
    path = write(tmp_path / "gold.jsonl", extraction(1, "Ann Lee", "Before: Ann Lee", label=1), [1])
    pairs, refused = read_labels(path, sources)
    assert len(pairs) == len(refused) == 1


def test_the_grader_labels_what_it_can_judge(tmp_path, sources):
    """Its failures are no labels, and neither are quotes that are not found."""
    path = write(
        tmp_path / "new.jsonl",
        extraction(1, "Ann Lee", "Before: Ann Lee"),
        extraction(2, "Ann Lee", "Heard on May 4, 2015"),
        extraction(3, "Bob Ray", "Counsel: Bob Ray"),
        extraction(4, "Bob Ray", "a sentence of another world"),
    )
    pairs = list(grade(path, sources, Grader()))
    assert [(pair.premise, pair.label, pair.kind) for pair in pairs] == [
        ("Before: Ann Lee", 1, "graded"),
        ("Heard on May 4, 2015", 0, "graded"),
    ]


def test_nothing_to_grade_is_an_error(tmp_path, sources):
    """An empty file, and a document that was not given."""
    with pytest.raises(DatasetError, match="no extractions"):
        list(grade(write(tmp_path / "empty.jsonl"), sources, Grader()))
    path = write(tmp_path / "new.jsonl", extraction(1, "x", "y") | {"doc_id": "other"})
    with pytest.raises(DatasetError, match="not in --documents"):
        list(grade(path, sources, Grader()))
