"""Detectors on labelled answers: sets, judgements that are kept, figures, the paper's beside."""
