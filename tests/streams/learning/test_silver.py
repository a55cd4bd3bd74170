"""Labels by a grader: what it is asked, that it is asked once, and that it certifies nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from safepassage.schemas import Assessment
from safepassage.scoring_worker import Pair
from safepassage.streams.kafka.publisher import open_publisher
from safepassage.streams.learning.learner import Learner
from safepassage.streams.learning.silver import asked, graded, sample, write_sample
from safepassage.streams.learning.task import TASK, Outcome, Task
from safepassage.streams.release.releases import releases_in_force
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALIGNMENTS
from tests.streams.judged import aligned, publish

from .test_learner import Trainer, learning, steps


class Grader:
    """Supports what stands in the passage; the first question it cannot judge."""

    revision = "grader-1"

    def __init__(self) -> None:
        self.questions: list[Pair] = []

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        found = []
        for pair in pairs:
            self.questions.append(pair)
            if len(self.questions) == 1:
                found.append(
                    Assessment(scorer="llm", revision=self.revision, failure="scorer_failed")
                )
                continue
            score = float(str(pair.value) in pair.premise)
            found.append(
                Assessment(scorer="llm", revision=self.revision, score=score, threshold=0.5)
            )
        return found

    def close(self) -> None:
        """Holds nothing."""


def test_every_extraction_has_a_corruption_of_its_own_field_or_document():
    drawn = [aligned(number) for number in range(8)]
    questions = asked(drawn)
    assert len(questions) == 16
    for (document, own), (same, corrupted) in zip(questions[::2], questions[1::2], strict=True):
        assert document == same
        assert corrupted.premise == own.premise
        assert corrupted.value != own.value
        assert corrupted.hypothesis.endswith(str(corrupted.value))


def test_the_grader_is_asked_once_and_what_it_cannot_judge_teaches_nothing(tmp_path: Path):
    write_sample(tmp_path, [aligned(number) for number in range(8)])
    grader = Grader()
    found = graded(tmp_path, grader)
    assert len(grader.questions) == 16
    assert len(found) == 15
    assert {pair.kind for pair in found} == {"graded"}
    assert {pair.label for pair in found} == {0, 1}
    with (tmp_path / "graded.jsonl").open("ab") as file:
        file.write(b'{"at": 3, "supp')  # a kill in the middle of a line
    again = Grader()
    assert graded(tmp_path, again) == found
    assert again.questions == []


async def test_before_reviews_a_candidate_is_shadowed_and_never_asks(
    kafka: Settings, tmp_path: Path
):
    settings = learning(kafka, tmp_path, learn_silver=60)
    await publish(settings, ALIGNMENTS, [aligned(number) for number in range(40)], key="doc")
    assert len(await sample(settings, 60)) == 30
    uncertified = Outcome(revision="silver-1", problem="only reviews certify a candidate")
    async with open_publisher(settings) as publisher:
        learner = Learner(publisher, settings, Trainer(uncertified))
        run, _ = await learner.start()
        task = Task.model_validate_json((learner.folder(str(run)) / TASK).read_bytes())
        assert task.silver
        event = await learner.go_on(str(run))
        assert (await learner.start())[0] is None
    assert await steps(settings) == ["started", "trained", "shadowed", "ended"]
    assert "only reviews certify" in event.detail
    assert (await releases_in_force(settings)).releases["shadow"].revision == "silver-1"
