"""What every process has, regardless of its role: logs, metrics, health, signals, failures."""
