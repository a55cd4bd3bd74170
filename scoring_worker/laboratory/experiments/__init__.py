"""The SafePassage paper's experiments, on whatever labels are at hand."""
