"""What the console knows: an index of the topics, the queue of cases and their leases."""
