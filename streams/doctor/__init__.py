"""What stands between a configuration and a running pipeline."""
