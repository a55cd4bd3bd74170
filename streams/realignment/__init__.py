"""A new version of a document: what was accepted before is judged again, without an LLM."""
