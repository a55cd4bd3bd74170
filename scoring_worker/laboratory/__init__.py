"""Evaluation, training and experiments. Nothing that serves imports this room."""
