"""Training: silver labels, then gold ones, then a default scorer that says what it rests on."""
