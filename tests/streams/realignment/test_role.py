"""What becomes of accepted values when their document changes."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.schemas import DocumentRef, Verdict
from safepassage.streams.kafka.publisher import PublishFailed
from safepassage.streams.topics import ACCEPTED, MANIFESTS, QUARANTINE, VERSIONS

from .flow import Flow

RENT = "The monthly rent is 950 euros and falls due on the first."
DEPOSIT = "The tenant pays a deposit of 2850 euros before moving in."
NOTICE = "Either party may give notice of 90 days in writing to the other."
FIRST = f"Lease of a flat. {RENT} {DEPOSIT} {NOTICE} Signed by both."
VALUES = ("950", "2850", "90")


@pytest.fixture
async def flow():
    """A document with three accepted values."""
    made = Flow()
    made.extracted(FIRST, VALUES)
    made.judge()
    await made.settle()
    yield made
    made.aligner.close()


async def outcomes(flow: Flow, text: str) -> dict[str, str]:
    ref = flow.realigned(text)
    await flow.settle()
    return flow.outcomes(ref)


async def test_an_unchanged_text_upholds_everything(flow: Flow):
    assert await outcomes(flow, FIRST) == dict.fromkeys(VALUES, "upheld")


async def test_what_stands_behind_an_insertion_has_moved_and_its_new_place_is_told(flow: Flow):
    text = FIRST.replace(DEPOSIT, f"There is a cellar. {DEPOSIT}")
    assert await outcomes(flow, text) == {"950": "upheld", "2850": "moved", "90": "moved"}
    (told,) = [event for event in flow.told() if event.value == "2850"]
    (place,) = told.places
    (before,) = told.former.places
    assert text[place.start : place.end] == FIRST[before.start : before.end] == DEPOSIT
    assert place.start == before.start + len("There is a cellar. ")


async def test_a_deleted_passage_is_withdrawn_and_waits_in_quarantine(flow: Flow):
    assert await outcomes(flow, FIRST.replace(DEPOSIT, "")) == {
        "950": "upheld",
        "2850": "withdrawn",
        "90": "moved",
    }
    (told,) = [event for event in flow.told() if event.outcome == "withdrawn"]
    assert told.reasons == ("not_found",)
    assert told.places == ()
    assert len(told.former.places) == 1
    stopped = flow.events(QUARANTINE)[-1]
    assert stopped.id == told.verdict_id
    assert stopped.former == told.former
    assert flow.verdicts(extraction_id=told.former_extraction_id)[0].id == told.former.verdict_id


async def test_another_figure_in_the_passage_is_withdrawn_though_the_quote_is_found(flow: Flow):
    told = await outcomes(flow, FIRST.replace("950", "990"))
    assert told["950"] == "withdrawn"
    assert flow.events(QUARANTINE)[-1].alignment.found
    assert flow.events(QUARANTINE)[-1].reasons == ("unsupported",)


async def test_a_changed_word_beside_the_value_is_judged_again_and_said(flow: Flow):
    told = await outcomes(flow, FIRST.replace("falls due", "is payable"))
    assert told["950"] == "reworded"


async def test_blanks_alone_move_what_is_behind_them(flow: Flow):
    text = FIRST.replace(". The monthly", ".\n\n   The monthly")
    assert await outcomes(flow, text) == dict.fromkeys(VALUES, "moved")


async def test_of_two_equal_passages_one_may_go(flow: Flow):
    twice = f"{RENT} {FIRST}"
    assert (await outcomes(flow, twice))["950"] in ("moved", "upheld")
    assert await outcomes(flow, FIRST) == {"950": "moved", "2850": "moved", "90": "moved"}


async def test_no_llm_is_asked_and_the_manifest_says_so(flow: Flow):
    ref = flow.realigned(FIRST)
    await flow.settle()
    (manifest,) = [m for m in flow.events(MANIFESTS) if m.document == ref]
    assert manifest.realigned
    judged = [v for v in flow.events(ACCEPTED) if v.document == ref]
    assert set(manifest.extraction_ids) == {v.extraction_id for v in judged}
    # The same finding in the same text: the id that an LLM's extraction had.
    assert {v.extraction_id for v in judged} == {v.former.extraction_id for v in judged}


async def test_a_document_of_which_nothing_is_accepted_still_ends():
    flow = Flow()
    ref = flow.realigned(FIRST)
    await flow.settle()
    assert [m.document for m in flow.events(MANIFESTS)] == [ref]
    assert flow.told() == []


async def test_what_was_withdrawn_comes_back_with_its_text(flow: Flow):
    without = FIRST.replace(DEPOSIT, "")
    assert (await outcomes(flow, without))["2850"] == "withdrawn"
    assert "2850" not in await outcomes(flow, without + " More.")
    assert (await outcomes(flow, FIRST))["2850"] == "upheld"
    assert (await outcomes(flow, without))["2850"] == "withdrawn"
    assert (await outcomes(flow, FIRST))["2850"] == "upheld"


async def test_a_version_that_an_llm_read_replaces_what_was_before(flow: Flow):
    flow.extracted(FIRST, ["950"])
    await flow.settle()
    assert await outcomes(flow, FIRST + " More.") == {"950": "upheld"}


async def test_a_value_that_is_accepted_after_the_new_version_came_is_taken_over_then():
    flow = Flow()
    flow.extracted(FIRST, VALUES)
    second = flow.realigned(f"A word before. {FIRST}")
    third = flow.realigned(f"Two words before. {FIRST}")
    await flow.settle()
    assert flow.outcomes(third) == dict.fromkeys(VALUES, "moved")
    assert flow.outcomes(second) == {}
    assert set(flow.manifests(third)) == {e.extraction_id for e in flow.told()}


async def test_the_former_verdict_is_gone_so_nothing_is_upheld(flow: Flow):
    records = flow.topics[ACCEPTED]
    lost = Verdict.model_validate_json(records[1].value)
    records[1] = replace(records[1], value=None)
    ref = flow.realigned(FIRST)
    await flow.settle()
    (told,) = [event for event in flow.told() if event.outcome == "undetermined"]
    assert told.former_extraction_id == lost.extraction_id
    assert told.document == ref
    assert lost.value not in flow.outcomes(ref)


class TestDecisionsOfPeople:
    """They bind to value, passage and surroundings."""

    async def refused(self, text: str = FIRST) -> tuple[Flow, Verdict]:
        """A document whose only value the scorer stopped."""
        flow = Flow()
        flow.extracted(text, ["950 EUR"], context=RENT)
        flow.judge()
        return flow, flow.events(QUARANTINE)[0]

    async def test_a_confirmation_holds_where_everything_is_equal(self):
        flow, judged = await self.refused()
        flow.decided(judged, "supports")
        assert await outcomes(flow, f"{FIRST} An annex.") == {"950 EUR": "upheld"}
        accepted = flow.events(ACCEPTED)[-1]
        assert (accepted.review.reviewer, accepted.review.in_place) == ("Ada", True)
        assert flow.told()[-1].reviewer == "Ada"
        # And from there on.
        assert await outcomes(flow, f"A preface. {FIRST}") == {"950 EUR": "moved"}

    async def test_a_confirmation_ends_where_the_sentence_changed(self):
        flow, judged = await self.refused()
        flow.decided(judged, "supports")
        told = await outcomes(flow, FIRST.replace("falls due on", "is due on"))
        assert told == {"950 EUR": "withdrawn"}
        assert flow.events(QUARANTINE)[-1].review is None

    async def test_a_scorer_does_not_take_the_place_of_a_person_whose_passage_changed(self):
        flow, judged = await self.refused(FIRST.replace("950", "950"))
        flow.decided(judged, "supports")
        text = FIRST.replace("950 euros", "950 EUR euros")
        assert await outcomes(flow, text) == {"950 EUR": "withdrawn"}
        assert flow.events(QUARANTINE)[-1].reasons == ("review_lapsed",)
        assert flow.events(QUARANTINE)[-1].score == 0.9

    async def test_a_correction_holds_and_ends_likewise(self):
        flow, judged = await self.refused()
        flow.decided(judged, "corrected", "950 euros")
        assert await outcomes(flow, f"{FIRST} An annex.") == {"950 euros": "upheld"}
        corrected = flow.events(ACCEPTED)[-1]
        assert (corrected.value, corrected.review.corrects) == ("950 euros", "950 EUR")
        assert await outcomes(flow, f"{FIRST} An annexe.") == {"950 euros": "upheld"}
        changed = FIRST.replace("950 euros and falls due", "950 EUR euros, due")
        assert await outcomes(flow, changed) == {"950 EUR": "withdrawn"}

    async def test_a_refusal_after_the_new_version_is_carried_there(self, flow: Flow):
        judged = flow.events(ACCEPTED)[0]
        ref = flow.realigned(f"A preface. {FIRST}")
        await flow.settle()
        flow.decided(judged, "insufficient")
        await flow.settle()
        assert flow.outcomes(ref) == {"950": "withdrawn", "2850": "moved", "90": "moved"}
        stopped = flow.events(QUARANTINE)[-1]
        assert (stopped.document, stopped.reasons) == (ref, ("review_rejected",))

    async def test_a_confirmation_that_is_taken_back_ends_in_the_new_version_too(self):
        flow, judged = await self.refused()
        flow.decided(judged, "supports")
        ref = flow.realigned(f"A preface. {FIRST}")
        await flow.settle()
        flow.decided(judged, "undone")
        await flow.settle()
        assert flow.outcomes(ref) == {"950 EUR": "withdrawn"}
        stopped = flow.events(QUARANTINE)[-1]
        assert stopped.document == ref
        assert not stopped.review.stands


SENTENCES = (RENT, DEPOSIT, NOTICE)
FILLER = ("There is a cellar.", "Pets are welcome here.", "A hallway is shared with others.")
versions = st.lists(
    st.lists(st.sampled_from(SENTENCES + FILLER), min_size=1, max_size=8).map(" ".join),
    min_size=1,
    max_size=4,
)


@settings(max_examples=40, deadline=None)
@given(versions, st.randoms(use_true_random=False))
async def test_any_versions_in_any_order_of_events_come_to_what_their_texts_say(texts, draw):
    """Killed between any two writes, with redelivered and late records."""
    flow = Flow()
    flow.extracted(FIRST, VALUES)
    refs: list[tuple[DocumentRef, str]] = []
    pending = list(texts)
    for _ in range(60):
        step = draw.randrange(6)
        if step == 0 and pending:
            refs.append((flow.realigned(pending[0]), pending.pop(0)))
        elif step == 1:
            flow.judge()
        elif step == 2:
            flow.dies_after = draw.randrange(4)
            with contextlib.suppress(PublishFailed):
                await flow.handle(draw.choice((ACCEPTED, QUARANTINE, VERSIONS)))
            flow.start()
        else:
            await flow.handle(
                draw.choice((ACCEPTED, QUARANTINE, VERSIONS)), repeat=draw.randrange(3)
            )
    while pending:
        refs.append((flow.realigned(pending[0]), pending.pop(0)))
    await flow.settle()
    last, text = refs[-1]
    final = flow.outcomes(last)
    for value, sentence in zip(VALUES, SENTENCES, strict=True):
        if all(sentence in one for _, one in refs):
            assert final[value] in ("upheld", "moved")
        elif sentence not in text:
            assert final.get(value) in (None, "withdrawn")
    assert {m.document for m in flow.events(MANIFESTS)} >= {last}
    assert_evidence(flow)
    flow.aligner.close()


def assert_evidence(flow: Flow) -> None:
    """What is called upheld, moved or reworded was measured, and stands where it is said to."""
    verdicts = {v.id: v for v in flow.verdicts()}
    for event in flow.told():
        if event.outcome in ("upheld", "moved", "reworded"):
            verdict = verdicts[event.verdict_id]
            assert verdict.score >= verdict.threshold
            for place, span in zip(event.places, verdict.alignment.quoted, strict=True):
                assert flow.texts[event.document.coordinates][place.start : place.end] == span.text
