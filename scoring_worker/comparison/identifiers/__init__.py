"""Identifiers: codes, telephone numbers and addresses of the internet."""
