"""An open loop: what comes late is counted, what never ends is not left out."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from safepassage.schemas import Coordinates, Document, DocumentRef, ExtractionManifest
from safepassage.streams.bench import figures as measured
from safepassage.streams.bench import load as loading
from safepassage.streams.bench import run
from safepassage.streams.bench.figures import (
    RoleFigures,
    Scrape,
    bottleneck,
    figures,
    lags,
    loads,
    percentiles,
)
from safepassage.streams.bench.load import (
    Arrival,
    Completions,
    Ending,
    Workload,
    arrive,
    schedule,
)
from safepassage.streams.bench.run import Bench, BenchRequest
from safepassage.streams.cli import app
from safepassage.streams.delivery.dead_letter_event import dead_letter
from safepassage.streams.demo import corpus
from safepassage.streams.demo.recorded_llm import Recording
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DEAD_LETTERS, DOCUMENTS, MANIFESTS
from tests.streams.broker import all_records, batch_source, running
from tests.streams.doubles import document_role
from tests.streams.judged import publish, verdict

RUN = "bench-0123456789ab"


def figures_of(role, busy, rate, seconds, cpu):
    return RoleFigures(
        role=role,
        busy=busy,
        records_per_second=rate,
        seconds_per_record=seconds,
        cpu_seconds_per_record=cpu,
    )


def place(offset: int) -> Coordinates:
    return Coordinates(topic="documents", partition=0, offset=offset)


def test_a_schedule_has_its_rate_and_repeats():
    times = list(schedule(50, 100, seed=3))
    assert times == list(schedule(50, 100, seed=3))
    assert times == sorted(times)
    assert len(times) == pytest.approx(5_000, rel=0.1)


class SlowProducer:
    """Acknowledges only when told to; `sent` are the documents that it was given."""

    def __init__(self) -> None:
        self.sent: list[asyncio.Future[object]] = []


async def test_no_acknowledgement_delays_what_comes_after_it(kafka: Settings, monkeypatch):
    slow = SlowProducer()

    async def hand_over(*_: object) -> asyncio.Future[object]:
        slow.sent.append(asyncio.get_running_loop().create_future())
        return slow.sent[-1]

    monkeypatch.setattr(loading, "hand_over", hand_over)
    documents = [Document(id=f"d{n}", text="t") for n in range(5)]
    sending = asyncio.create_task(arrive(slow, kafka, documents, [0.0] * 5))  # type: ignore[arg-type]
    while len(slow.sent) < 5:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    for offset, future in enumerate(slow.sent):
        future.set_result(place(offset))
    made = await sending
    assert [arrival.place.offset for arrival in made] == [0, 1, 2, 3, 4]
    assert all(arrival.accepted >= arrival.due for arrival in made)


def test_a_document_that_never_ended_is_in_the_percentiles():
    assert percentiles([1.0] * 98 + [float("inf")] * 2) == {
        "p50": 1.0,
        "p90": 1.0,
        "p99": None,
        "max": None,
    }
    assert set(percentiles([]).values()) == {None}
    assert percentiles([3.0, 1.0, 2.0])["p50"] == 2.0


def test_the_figures_count_what_ended_in_time_late_and_never():
    sent = [Arrival(place(n), due=float(n), accepted=n + 0.5) for n in range(4)]
    endings = {
        place(0): Ending(2.0, verdicts=3, failed=False),
        place(1): Ending(9.0, verdicts=2, failed=False),
        place(2): Ending(30.0, verdicts=0, failed=True),
    }
    made = figures(
        rate=0.4,
        seconds=10,
        characters=100,
        arrivals=sent,
        endings=endings,
        until=10.0,
        loads=[figures_of("score", 0.5, 2.0, 0.25, 0.1)],
        lags={"score": 4},
        bottleneck=None,
    )
    assert (made.documents, made.ended, made.failed, made.verdicts) == (4, 3, 1, 5)
    assert (made.documents_per_second, made.verdicts_per_second) == (0.2, 0.5)
    assert made.end_to_end == {"p50": 7.5, "p90": None, "p99": None, "max": None}
    assert made.from_due["p50"] == 8.0
    (role,) = made.roles
    assert (role.busy, role.lag) == (0.5, 4)
    assert not made.kept_up


def test_the_bottleneck_is_the_busiest_role_or_the_one_that_falls_behind():
    def load(role: str, busy: float) -> RoleFigures:
        return figures_of(role, busy, 1.0, 0.1, None)

    level = {"extract": 0, "align": 0, "score": 0}
    behind = {"extract": 0, "align": 5, "score": 80}
    busy = [load("extract", 0.85), load("align", 0.1), load("score", 0.95), load("report", 1.0)]
    assert bottleneck(busy, level, level, 100) == "score"
    assert bottleneck([], level, behind, 100) == "score"
    assert bottleneck([load("align", 0.3)], level, behind, 100) == "score"
    assert bottleneck([load("align", 0.3)], level, level, 100) is None


def test_metrics_of_several_workers_are_added_up():
    text = "\n".join(
        [
            'safepassage_batch_seconds_sum{role="extract"} 8',
            'safepassage_records_total{role="extract",outcome="published"} 3',
            'safepassage_records_total{role="extract",outcome="dead_lettered"} 1',
            'safepassage_lanes{role="extract"} 16',
            "process_cpu_seconds_total 2.5",
            "",
        ]
    )
    before, after, drained = Scrape(0.0), Scrape(1.0), Scrape(9.0)
    for _ in range(2):
        measured._add(after, text)
        measured._add(drained, text)
    (load,) = loads(before, after, drained)
    assert (load.busy, load.records_per_second, load.seconds_per_record) == (0.5, 8.0, 2.0)
    assert load.cpu_seconds_per_record == 5.0 / 8


def test_every_text_is_its_own_and_the_recording_answers_for_it(tmp_path):
    given = corpus.documents(), corpus.extractions()
    workload = Workload(*given, length=2, entities=0.5)
    made = workload.take(RUN, 30)
    assert len({document.text for document in made}) == 30
    assert all(len(made[n].text) > len(given[0][n].text) for n in range(5))
    recording = Recording.read(*workload.record(made, tmp_path))
    answered = [recording.find(document.text) for document in made]
    assert len(recording) == 30
    assert recording.unmatched == 0
    whole = Recording(*given).find(given[0][0].text)
    assert whole is not None
    assert answered[0] is not None
    assert 0 < len(answered[0]) <= round(len(whole) * 0.5) + 1


async def test_a_document_ends_with_its_last_verdict_or_its_dead_letter(kafka: Settings):
    await create_topics(kafka)
    completions = Completions(kafka, "doc-")
    following = asyncio.create_task(completions.follow(await completions.start()))
    try:
        judged = [verdict(n) for n in (0, 1)]
        ref = judged[0].document
        assert ref is not None
        same = [replace_document(v, ref) for v in judged]
        manifest = ExtractionManifest(document=ref, extraction_ids=[v.extraction_id for v in same])
        await publish(kafka, MANIFESTS, [manifest])
        await publish(kafka, ACCEPTED, same[:1])
        assert not await completions.until(1, 0.5)
        await publish(kafka, ACCEPTED, same[1:])
        assert await completions.until(1, 30)
        assert ref.coordinates is not None
        assert completions.ended[ref.coordinates].verdicts == 2
        await publish(kafka, DOCUMENTS, [Document(id="doc-x", text="t")])
        (record,) = await all_records(kafka, DOCUMENTS)
        letter = dead_letter(record, "extract", "Boom", "").model_copy(update={"doc_id": "doc-x"})
        await publish(kafka, DEAD_LETTERS, [letter])
        assert await completions.until(2, 30)
        assert completions.ended[record.coordinates].failed
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def replace_document(judged, ref: DocumentRef):
    return judged.model_copy(update={"document": ref})


async def test_lag_is_what_a_role_has_not_committed(kafka: Settings):
    await publish(kafka, DOCUMENTS, [Document(id=f"d{n}", text="t") for n in range(7)])
    assert await lags(kafka) == {"extract": 7, "align": 0, "score": 0}
    async with running(batch_source, document_role(), kafka):
        deadline = time.monotonic() + 30
        while (behind := await lags(kafka))["extract"] and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert behind["extract"] == 0


async def test_a_deployment_without_workers_is_said_to_be_one(kafka: Settings, monkeypatch):
    monkeypatch.setattr(run, "WARM_UP_SECONDS", 0.0)
    documents = Workload(corpus.documents()).take(RUN, 9)
    request = BenchRequest([1.0], 1.0, drain=0.0, warm_up=2)
    with pytest.raises(OperatorError, match="0 of 2 documents had their verdicts"):
        await Bench(kafka, request, documents).measure(lambda _: None)


async def test_a_rate_is_measured_through_a_worker(kafka: Settings):
    """The worker makes empty manifests: every document ends with none."""
    request = BenchRequest([20.0], 1.0, drain=30.0, warm_up=2)
    documents = Workload(corpus.documents()).take(RUN, request.documents())
    told = []
    await create_topics(kafka)
    async with running(batch_source, document_role(), kafka):
        (found,) = await Bench(kafka, request, documents).measure(told.append)
    assert told == [found]
    assert found.documents == len(request.times(20.0)) == found.ended
    assert found.end_to_end["max"] is not None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rate", "1"], "give --yes, or --embedded"),
        (["--rate", "0", "--yes"], "more than 0"),
        (["--rate", "1", "--embedded", "--documents", "x"], "bundled documents only"),
        (["--rate", "1", "--yes", "--metrics", "file:///etc/passwd"], "no address of metrics"),
    ],
)
def test_what_cannot_be_measured_is_refused(words: list[str], message: str, monkeypatch):
    monkeypatch.setattr(run, "bench_deployment", lambda request, *_: _scraped(request))
    result = CliRunner().invoke(app, ["bench", *words], env={"COLUMNS": "200"})
    assert message in f"{result.output} {result.exception}"
    assert result.exit_code != 0


def _scraped(request: BenchRequest) -> None:
    asyncio.run(measured.scrape(replace(request).metrics))
