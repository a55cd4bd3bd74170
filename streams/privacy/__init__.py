"""What personal data lies where, and how one document is erased of it all."""
