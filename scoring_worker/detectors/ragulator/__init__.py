"""RAGulator (Poey, Liu, Zhong): light detectors of sentences that are out of context."""
