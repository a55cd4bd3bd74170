"""From what reviewers decided to labels."""
