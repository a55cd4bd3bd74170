"""The report says what changed and why, and who was right."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from safepassage.schemas import Draw, Review, ReviewTrail, ScorerTrail, Usage, Verdict
from safepassage.scoring_worker.learnt_from import LearntFrom, more_learnt
from safepassage.streams.release.shadow import shadowing_revision
from safepassage.streams.replay.comparison import compare
from safepassage.streams.replay.engine import ReplayRequest, run_replay
from safepassage.streams.replay.plan import verdicts_topic
from safepassage.streams.replay.report_schema import ReplayReport, measured
from safepassage.streams.replay.terminal import print_report, render, write_report
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ALIGNMENTS, QUARANTINE, REVIEWS, SHADOW
from safepassage.streams.topology import route
from safepassage.streams.verdicts.deduplication import VERDICT_TOPICS
from tests.streams.judged import FakeScorer, aligned, publish, verdict

from .test_engine import NoRest

HOSTILE = "<script>alert('x')</script> $1^{2}$ [bold]not markup[/bold]"
# Values whose checksum is high enough for both scorers where they do not stop them.
NUMBERS = [n for n in range(60) if verdict(n).decision == "accepted"][:12]


def review(of: Verdict, decision: str, value: object = None) -> Review:
    return Review(
        id=f"review-{of.extraction_id}",
        verdict=of,
        decision=decision,
        value=value,
        reviewer="Ada",
        decided_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.fixture
async def report(kafka: Settings) -> ReplayReport:
    """Live verdicts of an old scorer, some reviewed, and a replay with a new one."""
    old = FakeScorer(stop=frozenset({f"May {NUMBERS[0]}"}))
    new = FakeScorer(revision="fake-2", stop=frozenset({f"May {NUMBERS[1]}", f"May {NUMBERS[2]}"}))
    types = {NUMBERS[2]: HOSTILE}
    events = [aligned(n, entity_type=types.get(n, "Hearing Date")) for n in NUMBERS]
    live = [verdict(n, old, entity_type=types.get(n, "Hearing Date")) for n in NUMBERS]
    await publish(kafka, ALIGNMENTS, events)
    for topic in VERDICT_TOPICS:
        await publish(kafka, topic, [v for v in live if route(v).topic is topic])
    reviews = [
        review(live[0], "supports"),  # the old one stopped it, wrongly
        review(live[1], "insufficient"),  # the old one let it through, wrongly
        review(live[2], "supports"),  # the new one stops it, wrongly
        review(live[3], "corrected", "May 99"),  # both let it through, wrongly
    ]
    await publish(kafka, REVIEWS, reviews, key="doc")
    state = await run_replay(ReplayRequest("cmp"), new, kafka, NoRest())
    return await compare(kafka, verdicts_topic("cmp"), subject="Replay <cmp>", run=measured(state))


async def test_flips_are_counted_by_type_reason_and_model(report: ReplayReport):
    assert (report.compared, report.unmatched) == (len(NUMBERS), 0)
    assert {(f.before, f.after, f.count) for f in report.flips} == {
        ("accepted", "quarantined", 2),
        ("quarantined", "accepted", 1),
    }
    assert {(f.group, f.count) for f in report.flips_by_type if f.after == "quarantined"} == {
        (HOSTILE, 1),
        ("Hearing Date", 1),
    }
    assert {f.group for f in report.flips_by_reason} == {"unsupported", "no longer unsupported"}
    assert {f.group for f in report.flips_by_model} == {"model-a"}
    assert report.before.revisions == {"fake-1": len(NUMBERS)}
    assert report.after.revisions == {"fake-2": len(NUMBERS)}


async def test_both_sides_are_held_against_the_reviews(report: ReplayReport):
    before, after = report.agreement_before, report.agreement_after
    assert (before.stopped_supported, before.accepted_unsupported) == (1, 2)
    assert (after.stopped_supported, after.accepted_unsupported) == (1, 1)
    assert (after.recall.successes, after.recall.total) == (1, 2)
    assert before.agreeing.share == pytest.approx(1 / 4)
    assert 0 < after.agreeing.low < after.agreeing.share < after.agreeing.high < 1


async def test_what_passes_is_certified_by_what_chance_chose_alone(kafka: Settings):
    numbers = [n for n in range(400) if verdict(n).decision == "accepted"][:80]
    old, new = FakeScorer(), FakeScorer(revision="fake-2", stop=frozenset({f"May {numbers[0]}"}))
    live = [verdict(n, old) for n in numbers]
    await publish(kafka, ALIGNMENTS, [aligned(n) for n in numbers])
    await publish(kafka, ACCEPTED, live)
    drawn = Draw(probability=1 / 80, among=80)
    checks = [
        review(one, "insufficient" if at == 0 else "supports").model_copy(
            update={"sampled": True, "draw": drawn}
        )
        for at, one in enumerate(live[:60])
    ]
    chosen = [review(one, "insufficient") for one in live[60:]]  # a person's choice counts nothing
    await publish(kafka, REVIEWS, [*checks, *chosen], key="doc")
    await run_replay(ReplayRequest("risk"), new, kafka, NoRest())
    asked = kafka.model_copy(update={"risk": 0.05})
    topic, unseen = verdicts_topic("risk"), LearntFrom()
    made = await compare(asked, topic, subject="risk", learnt=unseen)
    before, after = made.risk_before, made.risk_after
    assert before is not None
    assert after is not None
    assert (before.labels, before.wrong, before.certified) == (60, 1, False)
    assert (after.labels, after.wrong, after.certified) == (59, 0, True)
    assert before.low < 1 / 60 < before.high
    assert (made.before.passed.successes, made.after.passed.successes) == (80, 79)
    assert "certified: at most 5.0%" in render(made)
    learnt = more_learnt(unseen, [(one.doc_id, one.passage) for one in live[:40]])
    fewer = (await compare(asked, topic, subject="risk", learnt=learnt)).risk_after
    assert fewer is not None
    assert fewer.labels < 59
    assert "more spot checks are wanted" in str(fewer)
    silent = (await compare(asked, topic, subject="risk")).risk_after
    assert silent is not None
    assert "does not say" in str(silent)


async def test_examples_show_what_flipped(report: ReplayReport):
    assert len(report.examples) == 3
    wrongly_stopped = next(e for e in report.examples if e.entity_type == HOSTILE)
    assert wrongly_stopped.reviewed == "supports"
    assert "hearing took place" in wrongly_stopped.passage


async def test_page_is_one_file_and_escapes_documents(report: ReplayReport, tmp_path):
    page, json_file = write_report(report, tmp_path / "report")
    html = page.read_text()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert html.count('class="scores"') == 1
    assert html.count('class="bar after"') == 3
    assert not re.search(r"""(src|href)=""", html)
    assert json.loads(json_file.read_text())["agreement_after"]["recall"]["total"] == 2


async def test_terminal_never_reads_documents_as_markup(report: ReplayReport):
    out = StringIO()
    print_report(report, Console(file=out, width=200))
    assert "3 decisions changed" in out.getvalue()
    assert "[bold]not markup[/bold]" in out.getvalue()


async def test_person_is_the_measure_and_no_side(kafka: Settings):
    person = verdict(NUMBERS[0]).model_copy(
        update={"id": "by-person", "review": ReviewTrail(review_id="r", reviewer="Ada")}
    )
    await publish(kafka, ACCEPTED, [person])
    await publish(kafka, QUARANTINE, [verdict(NUMBERS[0])])
    report = await compare(kafka, QUARANTINE, subject="s", before=[ACCEPTED])
    assert (report.compared, report.unmatched) == (0, 1)


async def test_empty_comparison_still_renders(kafka: Settings):
    await publish(kafka, ACCEPTED, [])
    report = await compare(kafka, QUARANTINE, subject="nothing", before=[ACCEPTED])
    print_report(report, Console(file=StringIO()))
    assert "0 extractions compared" in render(report)


async def test_cost_is_summed_where_it_is_known(kafka: Settings):
    trail = ScorerTrail(
        scorer="llm",
        revision="1",
        score=0.9,
        threshold=0.5,
        usage=Usage(cost_usd=0.25, milliseconds=40),
    )
    paid = [verdict(n).model_copy(update={"scorers": (trail,)}) for n in NUMBERS[:4]]
    await publish(kafka, ACCEPTED, [verdict(n) for n in NUMBERS[:4]])
    await publish(kafka, QUARANTINE, paid)
    report = await compare(kafka, QUARANTINE, subject="s", before=[ACCEPTED])
    assert report.before.cost.usd is None
    assert report.after.cost.usd == pytest.approx(1.0)
    assert report.after.cost.mean_milliseconds == pytest.approx(40)


async def test_a_report_on_one_candidate_leaves_the_others_out(kafka: Settings):
    former = FakeScorer("former", "former-1", stop=frozenset({f"May {n}" for n in NUMBERS}))
    candidate = FakeScorer("candidate", "candidate-1")
    await publish(kafka, ACCEPTED, [verdict(n) for n in NUMBERS])
    await publish(kafka, SHADOW, [verdict(n, former) for n in NUMBERS])
    await publish(kafka, SHADOW, [verdict(NUMBERS[0], candidate)])
    assert await shadowing_revision(kafka) == "candidate-1"
    report = await compare(
        kafka, SHADOW, subject="s", before=[ACCEPTED], revision=await shadowing_revision(kafka)
    )
    assert (report.compared, report.flipped) == (1, 0)
    assert report.after.revisions == {"candidate-1": 1}
