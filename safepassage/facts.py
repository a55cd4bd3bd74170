"""The facts inside an object of the user's, and the object without those that are not supported.

A fact is what somebody can look up: a value with a quote. It is, anywhere inside,

* an `Entity`, or an `Extraction`;
* a model or dataclass with a field ``quote`` or ``context`` (a string, or several) beside others,
  which are its value;
* a field ``amount`` beside a field ``amount_quote`` or ``amount_context``;
* any other string: it is its own quote.

A number, date, truth value or enum without a quote is no fact, since nothing says where it is.
An object with such a field is refused, for its fields would come back as if they had been checked.
"""

import copy
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from safepassage.agents.extraction.schema_fields import (
    EntityPlace,
    entity_places,
    schema_field,
    word_rule,
)
from safepassage.schemas import Entity, SchemaField, entity_type_name, render_value
from safepassage.schemas.schema_field import among

from .extraction import Extraction, InvalidExtraction, json_of
from .outputs import AnnotatedDocument, filled, of_langextract

QUOTES = ("quote", "context")
"""Names of the field that holds the quote: of the library and HTTP, and of files and topics."""
_JOINT = " ... "
"""Between the parts of a quote that is given as a list."""

Location = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """An extraction, and where in the object it is."""

    location: Location
    extraction: Extraction


class Facts:
    """The facts of ``output``: a pydantic model, a dataclass, a list of `Extraction` or of models,
    langextract's document, or what `outputs.filled` unwraps.

    ``skip`` are the paths ("claim.number") of fields that come from elsewhere. Raises `TypeError`
    where nothing of it can be checked, or a value in it has no quote."""

    def __init__(self, output: Any, skip: Collection[str] = ()) -> None:
        self.output = filled(output)
        self._skip = frozenset(skip)
        self._unquoted: list[str] = []
        self._types = list(_entity_types(self.output))
        self.facts = tuple(map(self._among, list(self._of(self.output, (), EntityPlace()))))
        if self._unquoted:
            paths = ", ".join(dict.fromkeys(self._unquoted))
            first = self._unquoted[0].rpartition(".")[2]
            raise TypeError(
                f"nothing is quoted for {paths}: add a field such as {first}_quote: str, use "
                f"an Entity, or name in skip=… what does not come from the document"
            )

    def _among(self, fact: Fact) -> Fact:
        """``fact`` as one of all fields, those without a value included."""
        found = fact.extraction
        said = among((*self._types, found.type), found.type, found.field)
        return Fact(fact.location, dataclasses.replace(found, field=said))

    def without(self, locations: Collection[Location]) -> Any:
        """``output`` itself, or a copy in which what is at ``locations`` is None, or gone from its
        list. Raises `ValueError` where a field there cannot be None."""
        gone = frozenset(locations)
        if not gone:
            return self.output
        if () in gone:
            raise ValueError(f"the {type(self.output).__name__} itself is not supported")
        return _pruned(self.output, (), gone)

    def _of(self, value: Any, at: Location, place: EntityPlace) -> Iterator[Fact]:
        if isinstance(value, Extraction):
            yield Fact(at, _placed(value, at))
        elif isinstance(value, Entity):
            self._types.append(value.type_name())
            if render_value(payload := value.payload()):
                said = schema_field(type(value), place)
                found = Extraction(value.type_name(), payload, value.context, field=said)
                yield Fact(at, _placed(found, at))
        elif not isinstance(value, BaseModel) and isinstance(value, AnnotatedDocument):
            for number, one in enumerate(value.extractions or ()):
                where: Location = ("extractions", number)
                yield Fact(where, _placed(of_langextract(one), where))
        elif _is_record(value):
            yield from self._of_record(value, at, place)
        elif isinstance(value, Mapping):
            for key, part in value.items():
                yield from self._of(part, (*at, str(key)), place.in_a_list())
        elif isinstance(value, list | tuple | set | frozenset):
            for number, part in enumerate(value):
                yield from self._of(part, (*at, number), place.in_a_list())
        elif not at:
            raise TypeError(
                f"a {type(value).__name__} cannot be checked; give a pydantic model, a dataclass, "
                "a list of Extraction, or what langextract, instructor or pydantic-ai gave"
            )
        elif value is not None and value != "":
            yield from self._of_value(value, at, place)

    def _of_value(self, value: Any, at: Location, place: EntityPlace) -> Iterator[Fact]:
        if not isinstance(value, str) or isinstance(value, Enum) or _options(place.info):
            self._unquoted.append(place.name)
            return
        if value.strip():
            yield self._fact(_type_of(place.name), value, value, at, place)

    def _of_record(self, record: Any, at: Location, place: EntityPlace) -> Iterator[Fact]:
        fields = {name: (getattr(record, name), info) for name, info in _fields(record).items()}
        own = next((name for name in QUOTES if name in fields and len(fields) > 1), None)
        if own is not None:
            yield from self._of_quoted(record, fields, own, at, place)
            return
        quotes = {name: quote for name in fields for quote in _companions(name) if quote in fields}
        for name, (value, info) in fields.items():
            inside = place.inside(name, info)
            if name in quotes.values() or inside.name in self._skip:
                continue
            where = (*at, name)
            if name not in quotes:
                yield from self._of(value, where, inside)
                continue
            self._types.append(_type_of(name))
            if value is not None and render_value(json_of(value)):
                quote = _quote(fields[quotes[name]][0])
                yield self._fact(_type_of(name), value, quote, where, inside)

    def _of_quoted(
        self,
        record: Any,
        fields: Mapping[str, tuple[Any, FieldInfo]],
        own: str,
        at: Location,
        place: EntityPlace,
    ) -> Iterator[Fact]:
        """The one fact of a record that holds its own quote."""
        parts = {
            name: json_of(value)
            for name, (value, info) in fields.items()
            if name != own and value is not None and place.inside(name, info).name not in self._skip
        }
        kind = str(parts.pop("type")) if isinstance(parts.get("type"), str) else ""
        value = next(iter(parts.values())) if len(parts) == 1 else parts
        if parts and render_value(value):
            name = kind or _type_of(place.name or type(record).__name__)
            yield self._fact(name, value, _quote(fields[own][0]), at, place)

    def _fact(self, kind: str, value: Any, quote: str, at: Location, place: EntityPlace) -> Fact:
        info = place.info
        extra = info.json_schema_extra if info and isinstance(info.json_schema_extra, dict) else {}
        said = SchemaField(
            name=place.name or None,
            description=(info.description if info else None) or None,
            allowed=_options(info),
            words=word_rule(extra),
            single=not place.many,
            required=place.required,
        )
        return Fact(at, _placed(Extraction(kind, value, quote, field=said), at))


def _entity_types(output: Any) -> Iterator[str]:
    """Those of every place that a model has for an `Entity`, as the extractor knows them."""
    several = output if isinstance(output, list | tuple) else (output,)
    models = (type(one) for one in several if isinstance(one, BaseModel))
    for model in dict.fromkeys(one for one in models if not issubclass(one, Entity)):
        yield from (entity.type_name() for entity, _ in entity_places(model))


def _placed(extraction: Extraction, at: Location) -> Extraction:
    """Told apart from an equal one elsewhere in the object."""
    return dataclasses.replace(extraction, place=".".join(map(str, at)))


def _companions(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{quote}" for quote in QUOTES)


def _quote(given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, list | tuple) and all(isinstance(part, str) for part in given):
        return _JOINT.join(given)
    if given is None:
        return ""
    raise InvalidExtraction(f"a quote is text, not {type(given).__name__}")


def _type_of(path: str) -> str:
    return entity_type_name(path.rpartition(".")[2])


def _options(info: FieldInfo | None) -> tuple[Any, ...] | None:
    """The values of a field that are a category: they need not be in the document."""
    options: list[Any] = []
    for form in (info.annotation, *get_args(info.annotation)) if info else ():
        if get_origin(form) is Literal:
            options += [option for option in get_args(form) if option is not None]
        elif isinstance(form, type) and issubclass(form, Enum):
            options += [json_of(option) for option in form]
    return tuple(options) or None


def _is_record(value: Any) -> bool:
    return isinstance(value, BaseModel) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    )


def _fields(record: Any) -> dict[str, FieldInfo]:
    if isinstance(record, BaseModel):
        return dict(type(record).model_fields)
    hints = get_type_hints(type(record))
    return {
        one.name: FieldInfo(annotation=hints.get(one.name, Any))
        for one in dataclasses.fields(record)
    }


def _pruned(value: Any, at: Location, gone: frozenset[Location]) -> Any:
    if not any(one[: len(at)] == at for one in gone):
        return value
    if not isinstance(value, BaseModel) and isinstance(value, AnnotatedDocument):
        made = copy.copy(value)
        kept = enumerate(value.extractions or ())
        made.extractions = [one for n, one in kept if ("extractions", n) not in gone]
        return made
    if _is_record(value):
        return _replaced(value, _changes(value, at, gone))
    if isinstance(value, Mapping):
        kept_keys = {k: v for k, v in value.items() if (*at, str(k)) not in gone}
        return {k: _pruned(v, (*at, str(k)), gone) for k, v in kept_keys.items()}
    kept_parts = [(n, v) for n, v in enumerate(value) if (*at, n) not in gone]
    parts = [_pruned(v, (*at, n), gone) for n, v in kept_parts]
    same: Any = type(value)
    return same(parts)


def _changes(record: Any, at: Location, gone: frozenset[Location]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    fields = _fields(record)
    for name, info in fields.items():
        where, value = (*at, name), getattr(record, name)
        if where in gone:
            if not _may_be_none(info):
                raise ValueError(
                    f"{_path(where)} is not supported and cannot be None: make it optional "
                    '(X | None), or check with on_fail="raise"'
                )
            changes[name] = None
            companions = (quote for quote in _companions(name) if quote in fields)
            changes |= {quote: None for quote in companions if _may_be_none(fields[quote])}
            continue
        new = _pruned(value, where, gone)
        if new is not value:
            if isinstance(new, list | tuple | Mapping) and len(new) < _fewest(info):
                raise ValueError(f"{_path(where)} would be too short without what is not supported")
            changes[name] = new
    return changes


def _path(at: Location) -> str:
    return ".".join(map(str, at))


def _replaced(record: Any, changes: Mapping[str, Any]) -> Any:
    if isinstance(record, BaseModel):
        return record.model_copy(update=dict(changes))
    return dataclasses.replace(record, **changes)


def _may_be_none(info: FieldInfo) -> bool:
    return info.annotation is Any or type(None) in get_args(info.annotation)


def _fewest(info: FieldInfo) -> int:
    return max((getattr(bound, "min_length", 0) or 0 for bound in info.metadata), default=0)
