"""Files instead of topics: what is read from disk, checked, and put onto Kafka."""
