"""Texts in sentences and words, what stands around a passage, and the passages for a claim: what
agents and detectors share."""
