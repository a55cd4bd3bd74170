"""Sentences with slots: who did what, when and where."""

import random
import re

from .builder import Builder, blocks
from .values import Drawn, draw

_SLOT = re.compile(r"\[(\w+):([^\]]+)\]")
_SENTENCES = blocks("prose.txt")
_CATEGORY = re.compile(r"\s*//(\w+)=(.+)$")
_CATEGORY_TYPES = {
    "mode": ("Hearing Type", "Mode Of Hearing", "Hearing Format"),
    "privacy": ("Public Or Private Hearing", "Privacy Of Hearing"),
}


def write_prose(builder: Builder, domain: str, count: int, rng: random.Random) -> None:
    """Append ``count`` sentences of ``domain``, some of which state nothing."""
    plain = _SENTENCES.get(f"{domain}_plain", _SENTENCES["tribunal_plain"])
    for _ in range(count):
        if rng.random() < 0.25:
            builder.plain.append(builder.write(rng.choice(plain)))
        else:
            _write_sentence(builder, rng.choice(_SENTENCES[domain]), rng)
        builder.write(rng.choice((" ", "\n", f"\n[{rng.randint(1, 40)}] ")))


def _write_sentence(builder: Builder, template: str, rng: random.Random) -> None:
    stated = _CATEGORY.search(template)
    text = _CATEGORY.sub("", template)
    start, position, found = len(builder.text), 0, []
    for slot in _SLOT.finditer(text):
        builder.write(text[position : slot.start()])
        drawn = draw(slot[1], rng)
        found.append((_types(slot[2]), drawn, builder.write(drawn.surface)))
        position = slot.end()
    builder.write(text[position:])
    context = (start, len(builder.text))
    for types, drawn, span in found:
        builder.add_field(types, drawn, span, context)
    if stated:
        category = Drawn(text, stated[2], "category")
        builder.add_field(_CATEGORY_TYPES[stated[1]], category, context, context)


def _types(names: str) -> tuple[str, ...]:
    return () if names == "-" else tuple(name.strip() for name in names.split(","))
