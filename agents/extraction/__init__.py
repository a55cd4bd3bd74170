"""From a document to what an LLM says is in it."""
