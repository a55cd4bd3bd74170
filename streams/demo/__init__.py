"""The bundled corpus: documents, a recorded extractor's findings, and answers of a RAG system.

Written for this project. Every person, firm and tribunal is invented.
"""
