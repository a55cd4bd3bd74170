"""What every process has, whatever its role: logs, metrics, health, signals, failures."""
