"""Synthetic adaptation: grounded answers and twins of them with one subtle error.

The paper, section 4.2. Made by an LLM, or for training without one, by rules.
"""
