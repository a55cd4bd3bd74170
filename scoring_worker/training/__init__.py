"""Training of scorers."""
