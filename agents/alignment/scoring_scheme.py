"""What the alignment pays for a match, a mismatch and a gap."""

MATCH = 2.0
MISMATCH = -2.0
GAP_OPEN = -1.5  # the first character of a gap
GAP_EXTEND = -0.5  # each further one

ALIGNER_VERSION = "4"
"""Another one for each change of alignments or of what is around them: part of verdicts' ids."""
