"""The report role: one summary per document, once all its verdicts are in."""
