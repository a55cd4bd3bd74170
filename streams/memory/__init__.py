"""The scoring workers' memory of what people decided, on the stream."""
