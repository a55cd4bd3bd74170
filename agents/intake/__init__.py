"""Files in: PDF, scans, Word, web pages, e-mail and the outputs of OCR services become documents
with a layout.

What a person cannot see on the page is left out of the text, and said. Files are hostile: they
are read in a process that is bounded and may die, see `Intake`.
"""
