"""What measures the papers: run in a clone with ``python -m research``, not installed."""
