"""Open-loop load through a running deployment, and what it shows of latency and bottleneck."""
