"""Names of people, organisations and places, and other words, in any script."""
