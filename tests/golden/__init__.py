"""Golden answers: what the rules of one version answer to a frozen corpus.

``comparisons.jsonl`` holds questions to the comparators, ``pairs.jsonl`` pairs for the default
scorer, ``graphs.jsonl`` answers with their contexts for HalluGraph: one case a line, with what is
asked and what was said. ``versions.json`` names what answered.

``python -m tests.golden`` writes the answers again. It refuses while answers move under an
unchanged `RULES_VERSION`. ``python -m tests.golden --corpus`` builds the cases anew as well.
"""
