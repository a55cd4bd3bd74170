"""Records sealed under the keys of their documents, so that deleting a key erases them."""
