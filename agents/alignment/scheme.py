"""The scoring scheme of the alignment and its thresholds."""

MATCH = 2.0
MISMATCH = -2.0
GAP_OPEN = -1.5  # the first character of a gap
GAP_EXTEND = -0.5  # each further one

DEFAULT_THRESHOLD = 0.6
"""tau: the best threshold on D over 2,550 real and hallucinated contexts
(docs/concepts/alignment.md). It is that of `align` called alone; the pipeline takes
`SAFEPASSAGE_ALIGNMENT_THRESHOLD` (`safepassage.settings`)."""

ALIGNER_VERSION = "4"
"""Another one for whatever changes an alignment or what stands around it: part of verdicts' ids."""

LOW_EVIDENCE_CHARACTERS = 24
LOW_EVIDENCE_SCORE = 0.8
"""A context under 24 characters is not separable by alignment alone: the 95th percentile of D is
.80 for foreign contexts of 14 to 18 characters."""

TINY_CHARACTERS = 2
"""So short a quote, exact or not, says where it stands only if it stands at one place alone."""
