"""Dead letters listed, shown, and put back onto the topics that they came from."""
