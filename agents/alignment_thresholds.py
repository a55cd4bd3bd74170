"""How much of a quote has to match before it counts as found."""

STREAM_THRESHOLD = 0.5
"""tau of the pipeline, unless `SAFEPASSAGE_ALIGNMENT_THRESHOLD` says another. The paper has .6,
which stops 3% of the good quotes; what .5 lets in, the scorer stops."""

DEFAULT_THRESHOLD = 0.6
"""tau of `align` called alone: the best threshold on D over 2,550 real and hallucinated contexts
(docs/concepts/alignment.md)."""

LOW_EVIDENCE_CHARACTERS = 24
LOW_EVIDENCE_SCORE = 0.8
"""A context under 24 characters is not separable by alignment alone: the 95th percentile of D is
.80 for foreign contexts of 14 to 18 characters."""

TINY_CHARACTERS = 2
"""So short a quote, exact or not, says where it is only if it is at one place alone."""
