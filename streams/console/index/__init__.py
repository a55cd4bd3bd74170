"""What the console knows: an index of the topics, and the queue of cases."""
