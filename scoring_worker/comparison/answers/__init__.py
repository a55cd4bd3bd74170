"""Yes and no, none, and one of a closed set: what a row or a sentence answers."""
