"""The review console: a role that serves a web page on which people judge what was stopped."""

from .review_source import ReviewSource

__all__ = ["ReviewSource"]
