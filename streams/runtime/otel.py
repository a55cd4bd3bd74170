"""Traces for OpenTelemetry (extra "otel"): a span for each batch and for each of its records.

A record's span is a child of what its producer did, so that a document's way is one trace. It is
linked to the span of its batch, which is a trace of its own: a batch of `score` has records of many
documents. Spans name places and errors, never contents. OpenTelemetry's own variables say where
they go (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from safepassage.schemas import Verdict

from .tracing import TRACEPARENT, BatchTrace, Consumed, Tracing


class OtelTracing(Tracing):
    """Spans go to ``processor``, by default in batches over OTLP and HTTP."""

    def __init__(self, processor: SpanProcessor | None = None) -> None:
        # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say goes before.
        named = OTELResourceDetector().detect()
        resource = Resource.create({SERVICE_NAME: "safepassage"}).merge(named)
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("safepassage")

    @contextmanager
    def batch(self, role: str, records: Sequence[Consumed]) -> Iterator[BatchTrace]:
        attributes: dict[str, str | int] = {
            "messaging.batch.message_count": len(records),
            "safepassage.role": role,
        }
        with self._tracer.start_as_current_span(
            f"{role} batch",
            context=Context(),
            kind=SpanKind.CONSUMER,
            attributes=attributes,
            record_exception=False,  # what an error says may quote a document
            set_status_on_exception=False,
        ) as span:
            spans = _Spans(self._tracer, span, role, records)
            try:
                yield spans
            except BaseException as error:
                _note(span, type(error).__name__)
                spans.end(error)
                raise
            spans.end()

    def origin(self, topic: str) -> str | None:
        attributes = {"messaging.system": "kafka", "messaging.destination.name": topic}
        span = self._tracer.start_span(
            f"send {topic}", kind=SpanKind.PRODUCER, attributes=attributes
        )
        span.end()
        return _traceparent(span)

    def stop(self) -> None:
        self._provider.shutdown()


class _Spans(BatchTrace):
    """The spans of one batch's records, until `end`."""

    def __init__(self, tracer: Tracer, batch: Span, role: str, records: Sequence[Consumed]) -> None:
        link = Link(batch.get_span_context())
        self._spans = {_place(record): _span(tracer, link, role, record) for record in records}

    def traceparent(self, record: Consumed) -> str | None:
        return _traceparent(self._spans[_place(record)])

    def failed(self, record: Consumed, error: str) -> None:
        _note(self._spans[_place(record)], error)

    def judged(self, record: Consumed, verdict: Verdict) -> None:
        """As OpenTelemetry's conventions for generative AI name the result of an evaluation."""
        said: dict[str, str | float] = {
            "gen_ai.evaluation.name": "safepassage",
            "gen_ai.evaluation.score.label": verdict.decision,
            "gen_ai.evaluation.explanation": ", ".join(verdict.reasons),
            "safepassage.verdict.id": verdict.id,
            "safepassage.entity_type": verdict.entity_type,
        }
        if verdict.score is not None:
            said["gen_ai.evaluation.score.value"] = verdict.score
        self._spans[_place(record)].add_event("gen_ai.evaluation.result", said)

    def end(self, error: BaseException | None = None) -> None:
        """End all spans; with ``error`` nothing of the batch was committed."""
        for span in self._spans.values():
            if error is not None:
                _note(span, type(error).__name__)
            span.end()


def _span(tracer: Tracer, batch: Link, role: str, record: Consumed) -> Span:
    carrier = {TRACEPARENT: record.traceparent} if record.traceparent else {}
    return tracer.start_span(
        f"{role} record",
        context=TraceContextTextMapPropagator().extract(carrier, Context()),
        kind=SpanKind.CONSUMER,
        links=[batch],
        attributes={
            "messaging.system": "kafka",
            "messaging.destination.name": record.topic,
            "messaging.destination.partition.id": str(record.partition),
            "messaging.kafka.offset": record.offset,
            "safepassage.role": role,
        },
    )


def _traceparent(span: Span) -> str:
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


def _note(span: Span, error: str) -> None:
    span.set_status(StatusCode.ERROR, error)
    span.set_attribute("error.type", error)


def _place(record: Consumed) -> tuple[str, int, int]:
    return record.topic, record.partition, record.offset
