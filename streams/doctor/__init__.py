"""What is between a configuration and a running pipeline."""
