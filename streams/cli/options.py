"""Options that several commands have, and how their values are told."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..settings import settings

if TYPE_CHECKING:
    from safepassage.agents.extraction.known_fields import KnownFields
    from safepassage.schemas import ScorerRelease

_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]

Since = Annotated[
    datetime | None, Option("--since", formats=_TIMES, help="From this time (UTC) on.")
]
Until = Annotated[
    datetime | None, Option("--until", formats=_TIMES, help="Before this time (UTC).")
]
By = Annotated[
    str,
    Option(
        "--by",
        help="Who does it; your login if omitted.",
        callback=lambda given: given or getpass.getuser(),
        show_default=False,
    ),
]
Reason = Annotated[str, Option("--reason", help="Why, for those who read it later.")]
JsonFile = Annotated[Path | None, Option("--json", help="Where all figures go, as JSON.")]
ScorerName = Annotated[str | None, Option("--scorer", "-s", help="A scorer's name or folder.")]

SchemaName = Annotated[
    str | None,
    Option(
        help="What the fields of the extractions mean: module:Class, or a JSON file of entity "
        "types; SAFEPASSAGE_SCHEMA if omitted."
    ),
]


def fields_of(schema: str | None) -> KnownFields | None:
    from safepassage.agents.extraction.known_fields import configured_fields, known_fields

    if schema:
        return known_fields(schema)
    return configured_fields(settings().extraction_schema, settings().entity_types)


def utc(when: datetime | None) -> datetime | None:
    """The same moment with its time zone: without one the options are in UTC."""
    return when.replace(tzinfo=UTC) if when and when.tzinfo is None else when


def named(release: ScorerRelease) -> str:
    if release.scorer is None:
        return "none"
    return f"{release.scorer}, revision {release.revision}, by {release.released_by}"
