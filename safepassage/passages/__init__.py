"""Texts in sentences and words, what is around a passage, and the passages for a claim: what
agents and detectors share."""
