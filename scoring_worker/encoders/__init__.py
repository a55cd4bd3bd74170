"""Cross-encoders: weights, devices, batches and the forward pass."""
