"""Detectors that compare an answer's sentences with the context's, by meaning or by letters."""
