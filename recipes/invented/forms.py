"""Headers and forms: labels in one or two languages, with their values in several layouts."""

import random
from dataclasses import dataclass

from research.known_documents import Label

from .builder import Builder, blocks
from .values import Drawn, draw

ABSENT = ("N/A", "Nil", "None", "-", "n/a", "Not applicable", "S/O", "NIL", "Unrepresented", "")
REDACTED = ("XXXXXXXXXXX", "[XXX]", "XXXX XXXX", "[redacted]")


@dataclass(frozen=True, slots=True)
class FieldTemplate:
    """A line of forms.txt."""

    entity_types: tuple[str, ...]
    source: str
    english: tuple[str, ...]
    french: tuple[str, ...]
    often_empty: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """How a form sets its labels: see `_place_labels`."""

    between: str
    after_label: str
    order: str
    capitals: bool


def _parse(line: str) -> FieldTemplate:
    types, source, english, french = (part.strip() for part in line.split("|"))
    return FieldTemplate(
        entity_types=_split(types.lstrip("*"), ","),
        source=source,
        english=_split(english, ";"),
        french=_split(french, ";"),
        often_empty=types.startswith("*"),
    )


def _split(text: str, separator: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())


FORMS = {name: tuple(map(_parse, lines)) for name, lines in blocks("forms.txt").items()}
"""Form name to its fields."""


def draw_layout(rng: random.Random) -> Layout:
    """Labels before the value, around it (English, value, French) or, rarely, after it."""
    order = rng.choice(("before",) * 5 + ("around",) * 3 + ("after",))
    return Layout(
        between=rng.choice((" ", "\n", " / ")),
        after_label=rng.choice((": ", " ", "\n", "\n"))
        if order == "before"
        else rng.choice((" ", "\n")),
        order=order,
        capitals=rng.random() < 0.12,
    )


def write_form(builder: Builder, name: str, rng: random.Random) -> None:
    """Append a form of ``name``: most of its fields, in shuffled order, one a line."""
    layout, bilingual = draw_layout(rng), rng.random() < 0.6
    templates = [t for t in FORMS[name] if rng.random() < 0.85]
    rng.shuffle(templates)
    for template in templates:
        _write_field(builder, template, layout, bilingual, rng)
        builder.write("\n")


def _write_field(
    builder: Builder, template: FieldTemplate, layout: Layout, bilingual: bool, rng: random.Random
) -> None:
    ahead, behind = _place_labels(template, layout, bilingual, rng)
    start = len(builder.text)
    if ahead:
        _write_label(builder, layout.between.join(ahead), template)
        builder.write(layout.after_label)
    spans = _write_values(builder, template, rng)
    if behind:
        builder.write("\n" if "\n" in layout.after_label else " ")
        _write_label(builder, layout.between.join(behind), template)
    context = (start, len(builder.text))
    if not spans:
        builder.empty.append(Label(*context, template.entity_types))
    for drawn, span in spans:
        builder.add_field(template.entity_types, drawn, span, context)


def _place_labels(
    template: FieldTemplate, layout: Layout, bilingual: bool, rng: random.Random
) -> tuple[list[str], list[str]]:
    labels = [rng.choice(template.english)]
    if bilingual and template.french:
        labels.append(rng.choice(template.french))
    if layout.capitals:
        labels = [label.upper() for label in labels]
    if layout.order == "around" and len(labels) == 2:
        return labels[:1], labels[1:]
    return ([], labels) if layout.order == "after" else (labels, [])


def _write_label(builder: Builder, label: str, template: FieldTemplate) -> None:
    builder.labels.append(Label(*builder.write(label), template.entity_types))


def _write_values(
    builder: Builder, template: FieldTemplate, rng: random.Random
) -> list[tuple[Drawn, tuple[int, int]]]:
    if rng.random() < (0.5 if template.often_empty else 0.08):
        builder.write(rng.choice(REDACTED if rng.random() < 0.3 else ABSENT))
        return []
    spans = []
    for index in range(2 if template.source == "date" and rng.random() < 0.12 else 1):
        if index:
            builder.write(rng.choice((" ", "\n", " & ", " and ")))
        drawn = draw(template.source, rng)
        spans.append((drawn, builder.write(drawn.surface)))
    return spans
