"""The contract between the pipeline and anything that judges a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from safepassage.schemas import AlignedExtraction, Alignment, Assessment, SchemaField, Verdict
from safepassage.schemas import hypothesis as hypothesis_of
from safepassage.schemas.review import JudgedValue


@dataclass(frozen=True, slots=True)
class Pair:
    """One question to a scorer: does ``premise`` entail ``hypothesis``?

    ``premise`` is the aligned passage, ``hypothesis`` is h(y). ``entity_type`` and ``value``
    are there for the checks that parse values and for thresholds per type.

    What is around the passage is apart from it, "" where nothing is known: ``before`` and
    ``after`` complete its sentence, line or table row (before the first part of an elided quote
    and after the last), ``between`` is what the sentences say at each joint of the parts, and
    ``heading`` is the heading above, the head of the column and the label, parted by " | ";
    ``column_head`` and ``row_head`` are the last two, of a passage of one part. A value that is
    only there is not quoted. ``language`` (ISO 639-1) and ``day_first`` are the document's.
    ``field`` is what the schema says of the field: description, unit, allowed values, single or
    list, required. ``absent`` are places in a claim (start, end; code points of ``value``) whose
    words nothing of what was retrieved has, beyond the passage too; None where nobody looked.
    """

    premise: str
    hypothesis: str
    entity_type: str
    value: JsonValue
    before: str = ""
    after: str = ""
    between: tuple[str, ...] = ()
    heading: str = ""
    column_head: str = ""
    row_head: str = ""
    language: str | None = None
    day_first: bool | None = None
    field: SchemaField | None = None
    absent: tuple[tuple[int, int], ...] | None = None

    @classmethod
    def of(cls, aligned: AlignedExtraction) -> Pair:
        """The pair of an aligned extraction."""
        extraction = aligned.extraction
        return cls.at(
            aligned.alignment,
            hypothesis=extraction.hypothesis,
            entity_type=extraction.entity_type,
            value=extraction.value,
            field=extraction.field,
        )

    @classmethod
    def judged(cls, verdict: Verdict, value: JsonValue) -> Pair:
        """The pair that ``verdict`` was made on, with ``value``: its own, or a correction. Raises
        `ValueError` where the verdict has no alignment, so no scorer was asked."""
        if verdict.alignment is None:
            raise ValueError(f"verdict {verdict.id} has no alignment")
        alignment = verdict.alignment
        if value != verdict.value:  # the absent words are places in the old value
            alignment = alignment.model_copy(update={"absent": None})
        return cls.at(
            alignment,
            hypothesis=hypothesis_of(verdict.entity_type, value),
            entity_type=verdict.entity_type,
            value=value,
            field=verdict.field,
        )

    @classmethod
    def decided(cls, judged: JudgedValue, value: JsonValue) -> Pair:
        """The pair that a person decided on, with ``value``: its own, or a correction."""
        return cls.at(
            judged,
            hypothesis=hypothesis_of(judged.entity_type, value),
            entity_type=judged.entity_type,
            value=value,
            field=judged.field,
        )

    @classmethod
    def at(
        cls,
        alignment: Alignment | JudgedValue,
        *,
        hypothesis: str,
        entity_type: str,
        value: JsonValue,
        field: SchemaField | None = None,
    ) -> Pair:
        """The pair of a value and where its quote is, or what was retrieved for it; or what a
        person saw of either."""
        known = alignment if isinstance(alignment, Alignment) else None
        absent = known.absent if known else None
        return cls(
            premise=alignment.passage,
            hypothesis=hypothesis,
            entity_type=entity_type,
            value=value,
            before=alignment.before,
            after=alignment.after,
            between=alignment.between,
            heading=alignment.heading,
            column_head=alignment.column_head,
            row_head=alignment.row_head,
            language=alignment.language,
            day_first=alignment.day_first,
            field=field,
            absent=None if absent is None else tuple([(one.start, one.end) for one in absent]),
        )


@runtime_checkable
class Scorer(Protocol):
    """Judges batches of pairs.

    ``name`` is what `load_scorer` was asked for; ``revision`` changes with anything that can
    change a score or a threshold (weights, thresholds, rules, prompt).

    `assess` returns one `Assessment` per pair, in order. A pair that cannot be scored gets an
    assessment with a ``failure``; the others are not affected. It blocks: callers run it off
    the event loop. It raises only where the scorer as a whole is broken.
    """

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]: ...

    def close(self) -> None: ...
