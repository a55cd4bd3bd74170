"""Texts in sentences: what agents and detectors share of it."""
