"""A pair as a row of a file, and back. Both are here, so that no part of the question is lost."""

from pydantic import JsonValue

from safepassage.schemas.hypothesis import parse_hypothesis
from safepassage.scoring_worker.scorer import Pair

from .rows import PairRow


def row_of_pair(pair: Pair) -> dict[str, JsonValue]:
    """The fields of a row; what is not known of the pair is left out."""
    known: dict[str, JsonValue] = {
        "before": pair.before or None,
        "after": pair.after or None,
        "between": list(pair.between) or None,
        "heading": pair.heading or None,
        "column_head": pair.column_head or None,
        "row_head": pair.row_head or None,
        "language": pair.language,
        "day_first": pair.day_first,
        "field": pair.field.model_dump(mode="json") if pair.field else None,
        # An empty list says that no word is absent, None that nobody looked.
        "absent": None if pair.absent is None else [list(place) for place in pair.absent],
    }
    return {
        "premise": pair.premise,
        "hypothesis": pair.hypothesis,
        "entity_type": pair.entity_type,
        "value": pair.value,
        **{name: value for name, value in known.items() if value is not None},
    }


def pair_of_row(row: PairRow) -> Pair:
    """The pair of a row; type and value are read from the hypothesis where the row has none."""
    entity_type, value = row.entity_type, row.value
    if entity_type is None or value is None:
        entity_type, value = parse_hypothesis(row.hypothesis)
    return Pair(
        premise=row.premise,
        hypothesis=row.hypothesis,
        entity_type=entity_type,
        value=value,
        before=row.before or "",
        after=row.after or "",
        between=row.between,
        heading=row.heading or "",
        column_head=row.column_head or "",
        row_head=row.row_head or "",
        language=row.language,
        day_first=row.day_first,
        field=row.schema_field,
        absent=row.absent,
    )
