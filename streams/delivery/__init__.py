"""From a record to its commit: what makes sure that nothing is lost on the way."""
