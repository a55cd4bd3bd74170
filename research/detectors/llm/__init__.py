"""Detectors that ask an LLM: their prompts, their calls, and what they make of the answers."""
