"""From a pair to the questions that comparator and reader are asked.

A value with parts (a list, an object) is as good as its worst part, so every part is a question
of its own. The names of an object's fields are roles: they belong to what is asked, and never to
the words that the passage has to contain.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from safepassage.passages.claim_content import content_of
from safepassage.passages.date_order import day_first_of
from safepassage.passages.sentence_splitting import sentences
from safepassage.schemas import CLAIM_TYPE, hypothesis, render_value
from safepassage.schemas.hypothesis import entity_type_name
from safepassage.schemas.schema_field import MAX_ALLOWED, MAX_OPTION, WordRule
from safepassage.scoring_worker.comparison import Comparison, Passage, Place, Question
from safepassage.scoring_worker.comparison.answers.absence import absence_of
from safepassage.scoring_worker.comparison.answers.truth import truth_of
from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.dates import date_of_value
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.encoders.token_states import Places
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.packs.registry import with_packs
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.weighing.features import general_features

from .labels import Heads, cell_with_head
from .overlap import overlap

MAX_PARTS = 24
MAX_DEPTH = 4
MAX_DESCRIPTION = 300
"""Characters of a field's description that the reader is asked; more is for people."""
_JOINT = "\n"
_BLOCK = re.compile(r"\S(?:(?!\n\s*\n).)*", re.DOTALL)
_SHORT_LINE = 60
"""Code points of the lines of a form or an address, at the most."""
_EDGE = re.compile(r"[.;!?|](?=\s|$)|[。！？；।]|\n")
"""What ends a clause or a cell in any language."""


@dataclass(frozen=True, slots=True)
class Part:
    """One value to judge, what the comparators say of it, and what the reader is asked.

    ``shift`` is where the quote begins in the text of the tasks. ``question`` asks which words
    answer the type; it is None for a claim. ``claim`` asks whether the text entails it.
    ``clause`` asks ``question`` of the value's own clause, which begins at ``clause_start`` of
    the text; it is None where the value is nowhere.
    """

    comparison: Comparison
    asked: Question
    shift: int
    question: Task | None
    claim: Task
    known: Mapping[str, float] = field(default_factory=dict)
    """Features of the comparators and the packs: an opinion is formed more than once."""
    clause: Task | None = None
    clause_start: int = 0
    siblings: bool = False
    """Whether the field may have several values, which then are no rivals of each other."""

    @property
    def unread(self) -> bool:
        """Whether there is nothing to read: a claim of which nothing retrieved speaks."""
        return self.question is None and not self.claim.passage.strip()

    @property
    def first(self) -> Task:
        """What the reader is asked first: which words answer, where the value is in the quote; else
        whether the statement follows."""
        located = self.question is not None and self.comparison.places
        return self.question if located and self.question is not None else self.claim

    @property
    def words(self) -> Places:
        """The value's words where the reader reads them ``first``; () for the whole statement."""
        if self.first == self.claim:
            return ()
        places = self.comparison.places
        return tuple(sorted({(one.start + self.shift, one.end + self.shift) for one in places}))


def parts_of(
    pair: Pair, packs: Sequence[Pack] = (), approved_words: frozenset[str] = frozenset()
) -> list[Part]:
    """The parts of ``pair``'s value; at least one, at most `MAX_PARTS`; one alone, the whole,
    where comparing it as a whole shows a difference. ``packs`` may find more that differs, and
    bring features. An object of plain values that are said apart is asked as one statement too.
    ``approved_words`` are keys of words that reviewers took for others."""
    order = day_first_of(described(pair, pair.entity_type))
    passage = Passage(
        quote=pair.premise,
        before=pair.before,
        after=pair.after,
        heading=pair.heading,
        between=pair.between,
        language=pair.language,
        day_first=order if pair.day_first is None else pair.day_first,
    )
    own = _words(pair, pair.value)
    of_schema = (*_of_schema(pair), pair.absent, order, own, approved_words)
    whole = Question(pair.entity_type, pair.value, passage, *of_schema)
    if pair.entity_type == CLAIM_TYPE:
        part = _part(pair, whole, compare(whole), packs)
        shared = overlap(_said(pair.value), pair.premise, pair.absent)
        return [replace(part, known={**part.known, **shared})]
    leaves = _leaves(pair.entity_type, pair.value)
    # The parts' words are asked below.
    together = compare(replace(whole, words="reader")) if len(leaves) > 1 else None
    if together is not None and together.answer == "different":
        # What parts do not show one by one: that they are of several records.
        return [_part(pair, whole, together, packs)]
    asked = [
        replace(whole, entity_type=name, value=value, words=_words(pair, value))
        for name, value in leaves
    ]
    parts = [_part(pair, one, compare(one), packs) for one in asked]
    plain = isinstance(pair.value, dict) and len(leaves) <= len(pair.value)
    if together is not None and plain and said_apart(pair.premise, parts):
        parts.append(_part(pair, whole, replace(together, places=()), packs))
    return parts


def said_apart(quote: str, parts: Sequence[Part]) -> bool:
    """Whether no sentence, row or block of the quote holds all of ``parts`` that are in it, so that
    only the reader can tell whether they are said of one another. The lines of a block, and the
    clauses of a sentence, the comparators tell apart."""
    placed = [part.comparison.places for part in parts if part.comparison.places]
    units = [unit for block in _blocks(quote) for unit in block]
    homes = (
        {at for at, (start, end) in enumerate(units) for p in one if start <= p.start < end}
        for one in placed
    )
    return len(placed) > 1 and not set.intersection(*homes)


def _blocks(quote: str) -> Iterator[list[tuple[int, int]]]:
    """The sentences of each block; a block of short lines, as of a form, is one."""
    for block in _BLOCK.finditer(quote):
        start, end = block.span()
        lines = block[0].splitlines()
        if len(lines) > 1 and max(map(len, lines)) <= _SHORT_LINE:
            yield [(start, end)]
        else:
            yield [(start + one, start + last) for one, last in sentences(block[0])]


def _part(pair: Pair, asked: Question, compared: Comparison, packs: Sequence[Pack]) -> Part:
    text, shift = text_of(pair)
    comparison, of_packs = with_packs(packs, asked, compared)
    if _is_denial(asked, comparison):
        comparison = replace(comparison, places=())
    known = {**general_features(asked, comparison), **of_packs}
    is_claim = asked.entity_type == CLAIM_TYPE
    said = _in_words(asked, comparison)
    stated = Task(_said(said) if is_claim else hypothesis(asked.entity_type, said), text)
    question = None if is_claim else Task(described(pair, asked.entity_type), text)
    several = isinstance(pair.value, list | dict) or (
        pair.field is not None and pair.field.single is False
    )
    part = Part(comparison, asked, shift, question, stated, known, siblings=several)
    if question is None or not comparison.places:
        return part
    place = comparison.places[0]
    first, last = place.start + shift, place.end + shift
    head = ""
    quote = Place(shift, shift + len(pair.premise))
    if named := cell_with_head(text, first, quote, Heads(pair.row_head, pair.column_head)):
        # A cell is read as a line of a form, by which readers go, and not by columns.
        head, (start, end) = f"{named[0]}: ", (named[1].start, max(named[1].end, last))
    else:
        start, end = _clause(text, first, last)
    clause = Task(question.asked, f"{head}{text[start:end]}")
    return replace(part, clause=clause, clause_start=start - len(head))


def ambiguous_date(parts: Sequence[Part]) -> PairFailure | None:
    """Why nothing can be said of ``parts``, if so: a date in figures has two readings, the value is
    one of them, and neither document, language nor schema decides."""
    found = [one for part in parts for one in part.comparison.findings]
    if any(part.comparison.answer == "different" for part in parts):
        return None
    codes = {one.code: one.detail for one in reversed(found)}
    said = codes.get("date_ambiguous")
    return None if said is None else PairFailure("date_ambiguous", said)


def _clause(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the clause or cell around ``start`` to ``end`` begins and ends, without its mark."""
    first = max((edge.end() for edge in _EDGE.finditer(text, 0, start)), default=0)
    edge = _EDGE.search(text, end)
    return first, edge.start() if edge else len(text)


def _said(claim: JsonValue) -> str:
    """What a claim says: places in it are places in the claim."""
    return content_of(claim) if isinstance(claim, str) else render_value(claim)


def _is_denial(asked: Question, comparison: Comparison) -> bool:
    """Whether the value is a no that the quote says by denying the type's own words ("does not
    smoke"): at their place is what is denied, and no answer that the reader could give. So it
    is asked whether the statement follows."""
    if comparison.answer != "same" or truth_of(asked.value) is not False:
        return False
    quote = asked.passage.quote
    said = (quote[place.start : place.end].strip() for place in comparison.places)
    return comparison.kind == "truth" and all(truth_of(text) is None for text in said)


def _in_words(asked: Question, comparison: Comparison) -> JsonValue:
    """The value as the reader is asked whether it follows: "none" in the quote's own
    words ("none known"), since a reader does not read "None" as the same; others as they are."""
    if comparison.kind == "none" and comparison.answer == "same" and comparison.places:
        place = comparison.places[0]
        said = asked.passage.quote[place.start : place.end]
        if absence_of(said) is not None:
            return said
    return asked.value


def text_of(pair: Pair) -> tuple[str, int]:
    """What the reader reads, the quote with its surroundings, and where the quote begins."""
    head = f"{pair.heading}{_JOINT}" if pair.heading else ""
    return f"{head}{pair.before}{pair.premise}{pair.after}", len(head) + len(pair.before)


def described(pair: Pair, entity_type: str) -> str:
    """The question to the reader: the type, with what the schema says of the field."""
    schema = pair.field
    if schema is None:
        return entity_type
    said = [schema.description[:MAX_DESCRIPTION]] if schema.description else []
    if schema.unit:
        said.append(f"({schema.unit})")
    return f"{entity_type}: {' '.join(said)}" if said else entity_type


def _of_schema(pair: Pair) -> tuple[str | None, tuple[str, ...]]:
    """The unit and the allowed values of the field, where they are the value's: an object of
    several fields has a schema for each, and a list of options that may be cut allows any."""
    schema = pair.field
    if schema is None or (isinstance(pair.value, dict) and len(pair.value) > 1):
        return None, ()
    options = schema.allowed or ()
    return schema.unit, tuple(map(str, options)) if len(options) < MAX_ALLOWED else ()


def _words(pair: Pair, value: JsonValue) -> WordRule:
    """Whether the reader decides on words of ``value`` that the quote has not: where the schema
    says so, and where it is an option that a part of an object is chosen from."""
    schema = pair.field
    if schema is None:
        return "all"
    options = (schema.part_options or ()) if isinstance(pair.value, dict) else ()
    if isinstance(value, str) and value[:MAX_OPTION] in options:
        return "reader"
    return schema.words or "all"


def _leaves(name: str, value: JsonValue, depth: int = 0) -> list[tuple[str, JsonValue]]:
    """(type, value) of every part that is compared and read by itself.

    Beyond `MAX_DEPTH` and `MAX_PARTS` a value stays whole: comparators say that it has too many.
    """
    found = list(_parts(name, value, depth))
    return found if 0 < len(found) <= MAX_PARTS else [(name, value)]


def _parts(name: str, value: JsonValue, depth: int) -> Iterator[tuple[str, JsonValue]]:
    if depth < MAX_DEPTH and isinstance(value, list) and value:
        for element in value[: MAX_PARTS + 1]:
            yield from _parts(name, element, depth + 1)
    elif depth < MAX_DEPTH and isinstance(value, dict) and _is_record(name, value):
        for key, inner in list(value.items())[: MAX_PARTS + 1]:
            if inner not in (None, "", [], {}):
                yield from _parts(f"{name} {entity_type_name(key)}", inner, depth + 1)
    else:
        yield name, value


_ONE_VALUE = frozenset({"first", "middle", "last", "given", "family", "amount", "currency", "unit"})
"""Fields that make up one value: a person's name, an amount with its currency."""


def _is_record(name: str, value: dict[str, JsonValue]) -> bool:
    """Whether the fields are facts of their own, not the parts of one date, name or amount."""
    keys = {word for key in value for word in entity_type_name(key).lower().split()}
    if not value or date_of_value(value, entity_type=name) is not None:
        return False
    return not keys & _ONE_VALUE
