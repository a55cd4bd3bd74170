"""A recorded LLM: a loopback server with the OpenAI API that answers from a file."""
