"""The cascade: cheap decisions first, an LLM only where the encoder is uncertain."""

from __future__ import annotations

import pytest

from safepassage.schemas import Assessment, Finding, ScorerTrail, Usage
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.scorers.cascade import CascadeScorer, doubt_of


class Fixed:
    """Scores by the pair's value; None fails. Remembers what it was asked."""

    def __init__(self, scores, *, name="fixed", usage=None, short=False):
        self.scores, self.name, self.usage, self.short = scores, name, usage, short
        self.revision, self.asked, self.closed = f"{name}-1", [], False

    def assess(self, pairs):
        self.asked += [pair.value for pair in pairs]
        return [self._one(pair) for pair in pairs][: len(pairs) - self.short]

    def _one(self, pair):
        common = {"scorer": self.name, "revision": self.revision}
        score = self.scores[pair.value]
        trail = ScorerTrail(**common, score=score, threshold=0.4, usage=self.usage)
        if score is None:
            return Assessment(**common, failure="scorer_failed", trail=(trail,))
        finding = Finding(code=f"seen_by_{self.name}")
        return Assessment(**common, score=score, threshold=0.4, findings=(finding,), trail=(trail,))

    def close(self):
        self.closed = True


def claim(value):
    return Pair(f"a passage that says {value}", value, "Claim", value)


@pytest.fixture
def parts():
    encoder = Fixed({"high": 0.95, "low": 0.02, "middle": 0.5, "failed": None}, name="encoder")
    llm = Fixed({"middle": 1.0}, name="llm", usage=Usage(input_tokens=9, cost_usd=0.1))
    return encoder, llm


def test_only_uncertain_pairs_reach_the_llm(parts):
    """The encoder decides what it is sure of; and nobody else is asked then."""
    encoder, llm = parts
    cascade = CascadeScorer(encoder, llm)
    answers = cascade.assess([claim(v) for v in ("high", "middle", "low", "failed")])
    assert llm.asked == ["middle"]
    assert [answer.score for answer in answers] == [0.95, 1.0, 0.02, None]
    assert answers[3].failure == "scorer_failed"
    assert {answer.scorer for answer in answers} == {"cascade"}
    assert {answer.revision for answer in answers} == {cascade.revision}
    assert [len(answer.trail) for answer in answers] == [1, 2, 1, 1]


def test_the_trail_names_every_step(parts):
    """Both scorers with their scores, the LLM's cost, and the findings of both."""
    (answer,) = CascadeScorer(*parts).assess([claim("middle")])
    assert [step.scorer for step in answer.trail] == ["encoder", "llm"]
    assert answer.trail[1].usage.cost_usd == 0.1
    assert [finding.code for finding in answer.findings] == ["seen_by_encoder", "seen_by_llm"]


def test_what_the_llm_cannot_grade_is_undetermined(parts):
    """The encoder was uncertain: without the LLM nobody accepts the pair."""
    encoder, _ = parts
    (answer,) = CascadeScorer(encoder, Fixed({"middle": None}, name="llm")).assess(
        [claim("middle")]
    )
    assert (answer.score, answer.failure) == (None, "scorer_failed")
    assert [step.scorer for step in answer.trail] == ["encoder", "llm"]


def test_what_the_second_does_not_read_the_first_decides(parts):
    """`large` reads fewer languages than `default`, whose word then stands."""
    encoder, _ = parts

    class Unread(Fixed):
        def _one(self, pair):
            failed = super()._one(pair)
            return failed.model_copy(update={"failure": "language_not_covered"})

    cascade = CascadeScorer(encoder, Unread({"middle": None}, name="large"), name="cascade-large")
    (answer,) = cascade.assess([claim("middle")])
    assert (answer.score, answer.failure, answer.scorer) == (0.5, None, "cascade-large")
    assert [step.scorer for step in answer.trail] == ["encoder", "large"]


def test_a_short_answer_is_an_error(parts):
    """Scores are never shifted onto other pairs."""
    encoder, _ = parts
    with pytest.raises(RuntimeError, match="0 of 1"):
        CascadeScorer(encoder, Fixed({"middle": 1.0}, short=True)).assess([claim("middle")])


def test_the_band_is_part_of_the_revision(parts):
    """Another band decides otherwise; one outside [0, 1] is refused."""
    encoder, llm = parts
    assert CascadeScorer(encoder, llm).revision == CascadeScorer(encoder, llm).revision
    wide = CascadeScorer(encoder, llm, band=(0.0, 1.0))
    assert wide.revision != CascadeScorer(encoder, llm).revision
    with pytest.raises(ValueError, match="band"):
        CascadeScorer(encoder, llm, band=(0.5, 1.5))


def test_a_doubt_brings_what_passes_to_its_threshold_and_not_below(parts):
    """A value that the first is sure of is asked about where a check doubts it; one that it stops
    stays stopped."""
    encoder, llm = parts
    llm.scores |= {"high": 0.0, "low": 1.0}
    claims = [claim("high"), claim("low")]
    sure = CascadeScorer(encoder, llm, band=(0.3, 0.6))
    assert [one.score for one in sure.assess(claims)] == [0.95, 0.02]
    unsure = CascadeScorer(encoder, llm, band=(0.3, 0.6), doubt=lambda *_: 0.9)
    assert [one.score for one in unsure.assess(claims)] == [0.0, 0.02]
    assert unsure.revision != sure.revision


@pytest.mark.parametrize(
    ("passage", "value", "code", "expected"),
    [
        ("the rent is 1,250", "1,250", None, 0.0),
        ("the rent is 1,250, the deposit 2,500 and the fee 90", "1,250", None, 0.1),
        ("the rent is 1,250", "1,250", "rival_preferred", 0.2),
        ("the rent is 1,250", "1,250", "spacing_differs", 0.0),
        ("between Ann Lee, Mara Voss and Tom Okafor", "Ann Lee", "words_missing", 0.3),
    ],
)
def test_what_is_doubtful_of_a_value(passage, value, code, expected):
    """Words that a check doubts, and other figures or names in the quote."""
    findings = (Finding(code=code),) if code else ()
    assessment = Assessment(scorer="s", revision="1", score=0.9, threshold=0.5, findings=findings)
    pair = Pair(passage, f"Rent: {value}", "Rent", value)
    assert doubt_of(pair, assessment) == pytest.approx(expected)


def test_nothing_to_do_and_closing(parts):
    """No pairs, no calls; closing closes both."""
    cascade = CascadeScorer(*parts)
    assert cascade.assess([]) == []
    cascade.close()
    assert all(part.closed for part in parts)
