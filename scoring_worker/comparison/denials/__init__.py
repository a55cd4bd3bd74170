"""Denial, hypothesis and other people: what the words around a value make of it."""
