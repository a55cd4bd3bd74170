"""What can be asked for a score: the default, the cascade, a bare encoder, an LLM, baselines."""
