"""Training of RAGulator: curation, labelling by an LLM, meta-classifiers, cross-encoder."""
