"""A picture of the evidence: documents with every value marked by its verdict, as one HTML file.

It needs no server and asks for nothing. Documents and values are hostile: they reach the page
through `markup` only, which escapes, and the page's policy runs no script but its own.
"""

from .page import framed, report

__all__ = ["framed", "report"]
