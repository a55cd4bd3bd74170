"""The legal groundedness benchmark: every method on the same answers, quality beside latency."""
