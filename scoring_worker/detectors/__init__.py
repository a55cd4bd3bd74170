"""Detectors: is a free-text answer grounded in its passages? One room for each family."""
