"""Invented documents: tribunal headers, judgments, invoices, leases, letters and more.

Every text comes from the templates in this folder, which were written for this project.
"""

import random
from collections.abc import Iterator

from research.known_documents import KnownDocument

from .builder import Builder
from .forms import FORMS, write_form
from .prose import write_prose

_PROSE_OF_FORM = {"tribunal": ("tribunal", "tribunal", "french"), "judgment": ("court", "tribunal")}
_FORM_WEIGHTS = {"tribunal": 6, "judgment": 2}


def synthetic_documents(count: int, seed: int = 0) -> Iterator[KnownDocument]:
    """``count`` documents, each a form followed by some sentences; the same for the same seed."""
    rng = random.Random(seed)
    names = tuple(FORMS)
    weights = [_FORM_WEIGHTS.get(name, 1) for name in names]
    for index in range(count):
        form = rng.choices(names, weights)[0]
        builder = Builder()
        write_form(builder, form, rng)
        builder.write("\n")
        prose = rng.choice(_PROSE_OF_FORM.get(form, ("business", "business", "court", "french")))
        write_prose(builder, prose, rng.randint(4, 9), rng)
        yield builder.document(f"synthetic-{seed}-{index}")
