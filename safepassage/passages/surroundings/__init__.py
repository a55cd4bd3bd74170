"""What is around a quote in its document: the rest of its sentence, line or table row, and
what names it (row label, column head, heading above).

What decides often is just outside a quote: "is **not** a citizen of Iran", the label of a
row, the head of a column. The scorer gets it apart from the quote, as slices of the document,
bounded regardless of what the document looks like. Where a sentence ends is left open in doubt: a
neighbour's words too many do less harm than a denial too few.
"""

from .layout import DocumentLayout, LanguageOf, with_surroundings

__all__ = ["DocumentLayout", "LanguageOf", "with_surroundings"]
