"""The library on a document that changes: judged anew, never believed."""

from __future__ import annotations

from safepassage import Extraction, Verifier

from .scorers import WordScorer

TEXT = "The rent is 950 euros a month. The deposit is 2850 euros."
FACTS = [
    Extraction("Rent", "950", quote="The rent is 950 euros a month."),
    Extraction("Deposit", "2850", quote="The deposit is 2850 euros."),
    Extraction("Fee", "11", quote="The deposit is 2850 euros."),
]


async def test_a_new_version_is_judged_by_the_scorer_and_says_what_became_of_each_value():
    scorer = WordScorer()
    with Verifier(scorer) as verifier:
        first = verifier.verify(TEXT, FACTS)
        assert len(first.accepted) == 2
        second = verifier.reverify(first, "Dear tenant! " + TEXT.replace("950", "990"))
        asked = [str(pair.value) for pair in scorer.calls[-1]]
        assert await verifier.areverify(first, TEXT) == verifier.reverify(first, TEXT)
        third = verifier.reverify(second, TEXT)
    assert asked == ["950", "2850"]  # what was stopped is not taken over
    assert {r.value: r.outcome for r in second.realignments} == {
        "950": "withdrawn",
        "2850": "moved",
    }
    assert {r.value: r.outcome for r in third.realignments} == {"2850": "moved"}
    assert first.realignments == ()
    (moved,) = [r for r in second.realignments if r.outcome == "moved"]
    (verdict,) = second.accepted
    assert (moved.verdict_id, moved.former.verdict_id) == (verdict.id, first.accepted[1].id)


def test_sentences_of_answers_are_left_out():
    with Verifier(WordScorer()) as verifier:
        answered = verifier.claims(TEXT, "The deposit is 2850 euros.")
        assert verifier.reverify(answered, TEXT).verdicts == ()
