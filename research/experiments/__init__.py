"""The SafePassage paper's experiments, on any labels are at hand."""
