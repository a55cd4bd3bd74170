"""One question to an LLM endpoint: client, attempts, waits and errors, for extractor and grader."""
