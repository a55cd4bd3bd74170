"""The tamper-evident record of every verdict: written, and verified."""
