"""Verdicts as their consumers want them: each once, counted by extractor, at a glance."""
