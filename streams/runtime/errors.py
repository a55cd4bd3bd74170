"""Failures whose message is written for the operator: one line that says what to do."""


class OperatorError(Exception):
    """Shown on stderr without a traceback; the process ends with code 1."""
