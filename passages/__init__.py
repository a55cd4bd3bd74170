"""Texts in sentences, and the passages for a claim: what agents and detectors share."""
