"""Detectors that ask an entailment model about every sentence of an answer."""
